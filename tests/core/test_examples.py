"""The examples in the docstrings, run as a reader would who imports all that the package offers."""

import doctest
import importlib
import pkgutil
from types import FunctionType

import pytest

import lossscale_core

MODULES = [module.name for module in pkgutil.iter_modules(lossscale_core.__path__, "lossscale_core.")]
OFFERED = {name: getattr(lossscale_core, name) for name in lossscale_core.__all__}
DESCRIBED = [name for name, offered in OFFERED.items() if isinstance(offered, type | FunctionType)]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    assert doctest.testmod(importlib.import_module(name), extraglobs=OFFERED).failed == 0


@pytest.mark.parametrize("name", DESCRIBED)
def test_what_is_offered_is_described(name):
    assert OFFERED[name].__doc__
