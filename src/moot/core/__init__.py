"""The pure core: it decides commands, folds facts into a state, and derives effects from the state."""

import moot.core.flows.registry  # noqa: F401 - registers every flow
