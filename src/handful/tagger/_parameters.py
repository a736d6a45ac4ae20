"""Parameters by name, as scikit-learn's estimators have them, without loading scikit-learn."""

from inspect import signature
from typing import Any, Self

from handful.errors import DataError

__all__ = ["Parameters"]


class Parameters:
    """`get_params` and `set_params` for a class whose ``__init__`` stores each parameter under its name."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool
            Also return the parameters of parameters that have some, as ``clusters__max_iter``.
        """
        found: dict[str, Any] = {}
        for name in sorted(signature(type(self)).parameters):
            found[name] = value = getattr(self, name)
            if deep and hasattr(value, "get_params"):
                found |= {f"{name}__{inner}": own for inner, own in value.get_params().items()}
        return found

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name; ``clusters__max_iter=5`` sets one of a parameter. They count from the next fit on."""
        own = self.get_params(deep=False)
        plain = {name: value for name, value in parameters.items() if "__" not in name}
        nested = [(*name.split("__", 1), value) for name, value in parameters.items() if "__" in name]
        for name in [*plain, *(name for name, _, _ in nested)]:
            if name not in own:
                raise DataError(f"{type(self).__name__} has no parameter {name}; it has {', '.join(own)}")
        for name, inner, _ in nested:
            if not hasattr(value := plain.get(name, own[name]), "set_params"):
                raise DataError(f"{name} is {value!r}, which has no parameter {inner}")
        for name, value in plain.items():
            setattr(self, name, value)
        for name, inner, value in nested:
            getattr(self, name).set_params(**{inner: value})
        return self
