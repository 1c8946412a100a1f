"""Callbacks for training: a progress bar, and pruning by Optuna."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankwise._rankwise import Progress


class progress:
    """A progress bar by tqdm, on the terminal or in a notebook. Arguments are tqdm's.

    >>> import rankwise as rw
    >>> bar = rw.progress(desc="training", disable=True)
    """

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._bar: Any = None

    def __call__(self, step: Progress) -> None:
        if self._bar is None or step.iteration < self._bar.n:
            self.close()
            from tqdm.auto import tqdm

            self._bar = tqdm(**({"total": step.total, "unit": "it"} | self._options))
        self._bar.update(step.iteration - self._bar.n)
        if step.name:
            self._bar.set_postfix_str(f"{step.name} {step.value:.4f}")
        if step.iteration == step.total:
            self.close()

    def close(self) -> None:
        """Ends the bar; it does so by itself after the last iteration."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class optuna:
    """Reports the metric on the validation queries to an Optuna trial, and ends trials that Optuna prunes.

    Give training validation queries (`eval_set`), and the trial's study the direction "maximize":

        def objective(trial):
            model = LambdaMART(num_leaves=trial.suggest_int("num_leaves", 4, 64))
            model.fit(X, y, qid=q, eval_set=[(Xv, yv)], eval_qid=[qv], callbacks=[rw.optuna(trial)])
            return model.score(Xv, yv, qid=qv)
    """

    def __init__(self, trial: Any) -> None:
        self._trial = trial

    def __call__(self, step: Progress) -> None:
        if not step.name.endswith("(valid)"):
            return
        self._trial.report(step.value, step.iteration)
        if self._trial.should_prune():
            from optuna import TrialPruned

            raise TrialPruned(f"pruned at iteration {step.iteration}, with {step.name} {step.value:.4f}")
