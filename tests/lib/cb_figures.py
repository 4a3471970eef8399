"""Figures of many measured values."""


def percentile(values, share):
    """The value that @share of @values, 0 to 1, are below; of at least one."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
