"""Every public class and function has an example, and the examples of the extension run.

pytest --doctest-modules runs those of the Python modules; it does not look into an extension.
"""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

import rankwise as rw
from rankwise import _rankwise, clicks, labels

# Callbacks for a package that may not be there.
WITHOUT_EXAMPLE = {"optuna"}


def public() -> Iterator[tuple[str, Any]]:
    for module in (rw, clicks, labels):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value):
                yield name, value


def compiled() -> Iterator[tuple[str, str]]:
    """The documentation of the extension's public classes, their methods, and functions."""
    for name, value in public():
        if value is not getattr(_rankwise, name, None):
            continue
        yield name, inspect.getdoc(value) or ""
        for member, method in vars(value).items() if inspect.isclass(value) else ():
            if callable(getattr(value, member)) and not member.startswith("_"):
                yield f"{name}.{member}", inspect.getdoc(method) or ""


@pytest.mark.parametrize(("name", "value"), list(public()))
def test_every_public_object_has_an_example(name: str, value: Any) -> None:
    doc = inspect.getdoc(value) or ""
    assert doc
    assert ">>> " in doc or name in WITHOUT_EXAMPLE


@pytest.mark.parametrize(("name", "doc"), list(compiled()))
def test_examples_of_the_extension_run(name: str, doc: str) -> None:
    assert doc, f"{name} has no documentation"
    failures: list[str] = []
    test = doctest.DocTestParser().get_doctest(doc, {}, name, None, 0)
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=failures.append)
    assert not failures, "".join(failures)


def test_estimators_have_examples() -> None:
    pytest.importorskip("sklearn")
    from rankwise import sklearn

    for name in sklearn.__all__:
        doc = inspect.getdoc(getattr(sklearn, name)) or ""
        assert "Parameters" in doc or name == "BaseRanker"
        assert ">>> " in doc or name == "BaseRanker"
