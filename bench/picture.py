"""The picture: an SVG of what the service does beside its ceiling and the peer, how long calls take, and
the bars."""
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT = 940, 220, 200
SPAN = WIDTH - LEFT - RIGHT
LINE, BAR, GROUP_GAP, HEAD = 22, 15, 14, 40
MARGIN = 24
INK, FAINT = "#1a202c", "#718096"
COLOURS = {"ceiling": "#cbd5e0", "creditbridge": "#2b6cb0", "peer": "#c05621"}
VERDICTS = {"MET": "#2f855a", "NOT MET": "#c53030", "not measured": FAINT}
SHOWN = ("ceiling", "transfer-in", "transfer-out", "hot player", "get-balance", "user stat")
NAMES = {"php-fpm on apache": "PHP and MariaDB, Apache", "php-fpm on nginx": "PHP and MariaDB, nginx",
         "mod_fcgid": "Apache mod_fcgid", "mod_proxy_fcgi": "Apache mod_proxy_fcgi"}


class Page:
    """Elements from the top down."""

    def __init__(self):
        self.elements = []
        self.y = MARGIN

    def text(self, x, words, size=13, anchor="start", fill=INK, weight="normal"):
        self.elements.append(
            f'<text x="{x:.0f}" y="{self.y + BAR - 3:.0f}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{fill}" font-weight="{weight}">{escape(words)}</text>')

    def box(self, x, width, fill):
        self.elements.append(f'<rect x="{x:.1f}" y="{self.y:.0f}" width="{max(width, 0.5):.1f}" '
                             f'height="{BAR}" rx="2" fill="{fill}"/>')

    def panel(self, title, note):
        if self.elements:
            self.y += GROUP_GAP
        self.text(MARGIN, title, 16, weight="bold")
        self.y += LINE
        self.text(MARGIN, note, 12, fill=FAINT)
        self.y += HEAD - LINE + 8

    def group(self, name):
        self.text(MARGIN, name, 13, weight="bold")
        self.y += LINE

    def bar(self, label, length, fill, words, right=""):
        """Draws a line: its label, a bar of @length (0 to 1) followed by @words, and the text
        @right at the right."""
        self.text(LEFT - 10, label, anchor="end")
        self.box(LEFT, SPAN * length, fill)
        self.text(LEFT + SPAN * length + 8, words, 12)
        self.text(WIDTH - MARGIN, right, 12, "end", FAINT)
        self.y += LINE

    def svg(self):
        height = self.y + MARGIN
        return "\n".join((
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
            f'width="{WIDTH}" height="{height:.0f}" font-family="DejaVu Sans, Arial, sans-serif">',
            '<rect width="100%" height="100%" fill="#fff"/>', *self.elements, "</svg>", ""))


def groups(rows):
    """[(server, its rows)], in the order of the table."""
    found = {}
    for row in rows:
        found.setdefault(row["server"], []).append(row)
    return found.items()


def rates(page, rows, connections):
    shown = [row for row in rows if row["connections"] == connections and row["row"] in SHOWN]
    if not shown:
        return
    page.panel(f"Requests per second at {connections} connections",
               "grey: a FastCGI program that does nothing; blue: creditbridge; "
               "brown: the same contract in PHP over MariaDB")
    top = max(row["rate"] for row in shown)
    for server, members in groups(shown):
        page.group(NAMES.get(server, server))
        for row in members:
            share = row["of_ceiling"] if row["row"] != "ceiling" else None
            page.bar(row["row"], row["rate"] / top, COLOURS[row["stand"]], f"{row['rate']:,.0f}",
                     f"{share:.2f} of its ceiling" if share else "")
        page.y += GROUP_GAP


def latencies(page, rows, connections):
    shown = [row for row in rows if row["connections"] == connections
             and row["row"] == "transfer-in"]
    if not shown:
        return
    page.panel(f"Milliseconds of a transfer in, {connections} connections at full load",
               "half / 99 % / 99.9 % of the calls took no longer than this; the bar is the 99 %")
    top = max(row["p99_ms"] for row in shown)
    for row in shown:
        page.bar(NAMES.get(row["server"], row["server"]), row["p99_ms"] / top,
                 COLOURS[row["stand"]],
                 f"{row['p50_ms']:.1f} / {row['p99_ms']:.1f} / {row['p999_ms']:.1f}")


def judged_bars(page, judged):
    page.panel("Bars", "medians of the rounds")
    for bar in judged:
        value = "" if bar["value"] is None else f"{bar['value']:.3f}{bar['unit']}"
        page.text(MARGIN, bar["what"])
        page.text(640, value, anchor="end", weight="bold")
        page.text(660, bar["bound"], 12, fill=FAINT)
        page.text(WIDTH - MARGIN, bar["verdict"], 12, "end", VERDICTS[bar["verdict"]], "bold")
        page.y += LINE


def draw(rows, judged):
    page = Page()
    rows = [row for row in rows if "rate" in row and row["server"] != "socket"
            and row["stand"] in COLOURS]
    most = max((row["connections"] for row in rows), default=0)
    rates(page, rows, most)
    latencies(page, rows, most)
    judged_bars(page, judged)
    return page.svg()
