"""Parses the text that Prometheus reads, at least as strictly as `promtool check metrics`."""
import re

from cb_tap import check, equal

NAME = r"[a-z][a-z0-9_]*"
HELP = re.compile(rf"# HELP ({NAME}) (\S.*\S)")
TYPE = re.compile(rf"# TYPE ({NAME}) (counter|gauge|histogram)")
SAMPLE = re.compile(rf"({NAME})(?:\{{([^{{}}]*)\}})? (\S+)")
LABEL = re.compile(rf'({NAME})="([A-Za-z0-9_.+-]*)"')
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
# Units that are not base units, and words that name a metric type (promlint).
BAD_WORDS = {"ms", "us", "ns", "milliseconds", "minutes", "kib", "mib", "kb", "mb", "gauge",
             "counter", "histogram"}
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count")}


class Family:
    def __init__(self, name, kind):
        self.name = name
        self.kind = kind
        self.samples = {}  # (sample's name, labels) -> value as text


class Metrics:
    def __init__(self):
        self.families = {}

    def get(self, name, **labels):
        """Returns the value of one series, which must exist."""
        value = self.find(name, **labels)
        check(value is not None, f"there is no {name}{labels}")
        return value

    def find(self, name, **labels):
        """Returns the value, or None."""
        for family in self.families.values():
            value = family.samples.get((name, frozenset(labels.items())))
            if value is not None:
                return float(value) if "." in value else int(value)
        return None

    def sum(self, name, **labels):
        """Returns the sum over all series of @name that have @labels, among others."""
        wanted = set(labels.items())
        return sum(float(value) for family in self.families.values()
                   for (sample, has), value in family.samples.items()
                   if sample == name and wanted <= has)

    def labels(self, name, label):
        """Returns all values of a label."""
        return {value for family in self.families.values() for (sample, has) in family.samples
                for key, value in has if sample == name and key == label}


def labels_of(text, line):
    if text is None:
        return frozenset()
    pairs = text.split(",")
    found = [LABEL.fullmatch(pair) for pair in pairs]
    check(all(found), f"labels of {line!r}")
    names = [match.group(1) for match in found]
    check(len(set(names)) == len(names), f"a label twice: {line!r}")
    return frozenset((match.group(1), match.group(2)) for match in found)


def check_name(family):
    words = family.name.split("_")
    check(family.name.startswith("creditbridge_"), family.name)
    check(not BAD_WORDS & set(words), f"{family.name}: a unit or a type in its name")
    equal(family.name.endswith("_total"), family.kind == "counter", f"_total of {family.name}")
    check(not family.name.endswith(("_bucket", "_sum", "_count")), family.name)


def check_histogram(family):
    groups = {}
    for (sample, labels), value in family.samples.items():
        rest = frozenset(pair for pair in labels if pair[0] != "le")
        group = groups.setdefault(rest, {"buckets": [], "parts": {}})
        if sample == family.name + "_bucket":
            bound = dict(labels)["le"]
            group["buckets"].append((float("inf") if bound == "+Inf" else float(bound), int(value)))
        else:
            group["parts"][sample] = value
    for labels, group in groups.items():
        what = f"{family.name}{dict(labels)}"
        bounds = [bound for bound, _ in group["buckets"]]
        counts = [count for _, count in group["buckets"]]
        check(bounds == sorted(set(bounds)) and bounds[-1] == float("inf"), f"bounds of {what}")
        equal(counts, sorted(counts), f"counts of {what}")
        equal(set(group["parts"]), {family.name + "_sum", family.name + "_count"}, what)
        equal(int(group["parts"][family.name + "_count"]), counts[-1], f"count of {what}")


def take_sample(family, match, line):
    name, labels, value = match.groups()
    allowed = [family.name + suffix for suffix in SUFFIXES.get(family.kind, ("",))]
    check(name in allowed, f"{line!r} stands in {family.name}")
    check(NUMBER.fullmatch(value), f"no number: {line!r}")
    key = (name, labels_of(labels, line))
    check(key not in family.samples, f"twice: {line!r}")
    equal("le" in dict(key[1]), name.endswith("_bucket"), f"le of {line!r}")
    family.samples[key] = value


def parse(text):
    """Parses @text into Metrics; fails on any error in it."""
    metrics = Metrics()
    check(text.endswith("\n"), "the last line has an end")
    helped = family = None
    for line in text[:-1].split("\n"):
        match = HELP.fullmatch(line)
        if match:
            check(match.group(1) not in metrics.families, f"twice: {line!r}")
            helped, family = match.group(1), None
            continue
        match = TYPE.fullmatch(line)
        if match:
            equal(match.group(1), helped, f"HELP before {line!r}")
            family = metrics.families[helped] = Family(*match.groups())
            helped = None
            check_name(family)
            continue
        match = SAMPLE.fullmatch(line)
        check(match and family, f"no line of the format: {line!r}")
        take_sample(family, match, line)
    check(helped is None, "a HELP without TYPE")
    for family in metrics.families.values():
        if family.kind == "histogram":
            check_histogram(family)
    return metrics
