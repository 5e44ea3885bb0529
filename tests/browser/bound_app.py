"""A page of somebody else's, in which the explorer is one component and its params are bound."""

import argparse

import panel as pn

from lossscale_app import Explorer


def bound_page() -> pn.Column:
    """The explorer, what its params are, and a button that sets some."""
    explorer = Explorer(gradients=["1e-8", "0.01"])
    told = pn.bind(
        "k = {}, g = {}, format = {}".format, *(explorer.param[n] for n in ("log2_scale", "gradients", "format"))
    )
    button = pn.widgets.Button(name="Set from Python")
    button.on_click(lambda _: explorer.param.update(log2_scale=7, gradients=["2^-25", "3"], format="e5m2"))
    return pn.Column(pn.pane.Str(told, css_classes=["told"]), button, explorer)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    port = parser.parse_args().port
    pn.serve(
        bound_page, port=port, address="127.0.0.1", websocket_origin=f"127.0.0.1:{port}", show=False, liveness=True
    )
