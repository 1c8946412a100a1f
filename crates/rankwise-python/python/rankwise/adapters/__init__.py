"""Rankwise inside other packages: `rankwise.adapters.ir_measures` and `rankwise.adapters.pyterrier`."""
