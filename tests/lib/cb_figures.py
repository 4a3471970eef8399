"""Statistics of measured values."""


def percentile(values, share):
    """Returns the value below which @share (0 to 1) of @values are. There must be at least one
    value."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
