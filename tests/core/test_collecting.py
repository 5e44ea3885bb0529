"""The page on collecting gradients: its code is run as it stands, on a small model."""

from pathlib import Path
import re

import numpy as np
import pytest

from lossscale_core import BF16, FP16, safe_window
from lossscale_core.files import read_gradients, read_tensors

from .oracle import same

PAGE = Path(__file__).parents[2] / "docs" / "collecting-gradients.md"


def code_blocks():
    return re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_page_has_the_code_that_is_run_here():
    npz, safetensors, reading = code_blocks()
    assert "np.savez(" in npz
    assert "save_file(" in safetensors
    assert "read_tensors(" in reading
    for code in (npz, safetensors):
        assert len([line for line in code.splitlines() if line]) == 8


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A model with a frozen parameter; the loss is its output's sum, whose gradients are known."""
    torch = pytest.importorskip("torch", reason="torch is not installed, which the code of the page needs")
    monkeypatch.chdir(tmp_path)
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 1))
    model[1].bias.requires_grad_(False)
    return model


def collect(code, model, dtype):
    """Run the page's code; the gradients from before it must not be in what it saves."""
    import torch

    model.to(dtype)
    inputs = torch.tensor([[1.0, 2.0**-20, -3.0]], dtype=dtype)
    model(inputs).sum().backward()
    exec(code, {"model": model, "loss": model(inputs).sum()})  # noqa: S102
    weight = model[1].weight.detach().double().numpy()
    return {
        "0.weight": weight.T * np.array([[1.0, 2.0**-20, -3.0]]),
        "0.bias": weight[0],
        "1.weight": model[0](inputs).detach().double().numpy(),
    }


def assert_collected(tensors, expected, relative):
    assert set(tensors) == set(expected)
    for name, gradient in expected.items():
        assert tensors[name].shape == gradient.shape
        assert np.allclose(tensors[name], gradient, rtol=relative, atol=0)


def test_gradients_in_an_npz(model):
    import torch

    expected = collect(code_blocks()[0], model, torch.float32)
    arrays = read_gradients("grads.npz")
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.float32)}
    assert_collected(arrays, expected, 1e-6)


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_gradients_in_safetensors(model, name):
    import torch

    pytest.importorskip("safetensors", reason="the library safetensors is not installed")
    expected = collect(code_blocks()[1], model, getattr(torch, name))
    tensors = read_tensors("grads.safetensors")
    assert {tensor.stored for tensor in tensors} == {BF16 if name == "bfloat16" else None}
    assert_collected(read_gradients("grads.safetensors"), expected, 1e-6 if name == "float32" else 2**-7)
    for tensor in tensors:
        kept = dict(model.named_parameters())[tensor.name].grad
        assert same(tensor.floats(), kept.float().numpy())


def test_reading_them_tensor_by_tensor(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.savez("grads.npz", small=np.float32([2**-26]), large=np.float16([8]))
    exec(code_blocks()[2], {})  # noqa: S102
    windows = [safe_window(values, FP16).survive.log2_powers for values in ([2.0**-26], [8.0])]
    assert capsys.readouterr().out.splitlines() == [f"small {windows[0]}", f"large {windows[1]}"]
