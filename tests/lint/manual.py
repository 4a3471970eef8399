#!/usr/bin/python3
"""manual: the pages in doc/ describe all options, commands and settings of the programs, as TAP.

The suite gets them from the programs (--help, whose text is made of the tables) and from the tables
of options and refusals; the completion is tried in a bash.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

SRCDIR = pathlib.Path(__file__).resolve().parents[2]
BUILDDIR = pathlib.Path(os.environ.get("CB_BUILDDIR", SRCDIR / "build")).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(SRCDIR / "tests" / "lib"))
from alerts import CASES as ALERTS  # noqa: E402
from commands import CASES as COMMANDS  # noqa: E402
from words import CASES as WORDS  # noqa: E402
from cb_refusals import NO_ANSWER, refusals  # noqa: E402
from cb_tap import Skip, check, equal, run_cases  # noqa: E402

PROGRAMS = ("creditbridge-ledger", "creditbridge-sweep", "creditbridge.fcgi",
            "creditbridge-dealer.fcgi", "creditbridgectl")
EVERYWHERE = {"cell", "config", "json", "tz", "help", "usage", "version"}
SETTING = re.compile(r'^\tOPTION\(OPTION_(\w+), (\w+), (\w+|"[^"]*"), (.+?),\s+([^,]+)\),$',
                     re.MULTILINE)
CHOICE = re.compile(r'^\tOPTION_OF\((\w+), "(\w+)", "(\w+)", "(\w+)"\)', re.MULTILINE)
MACRO = re.compile(r"^#define (\w+) (\d+)$", re.MULTILINE)
EMPTY = '"{}"'


def page(name):
    return (SRCDIR / "doc" / name).read_text()


def pages():
    found = sorted(p for p in (SRCDIR / "doc").iterdir() if re.fullmatch(r".*\.[1-8]", p.name))
    check(len(found) > 8, "there are no pages")
    return found


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=False)
    equal(done.returncode, 0, f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def help_of(program, *words):
    return run(BUILDDIR / program, *words, "--help")


def options_in(text):
    """The long options, with their letters, that a text of --help lists."""
    found = re.findall(r"^ {2,6}(?:-(.), +)?--([a-z][a-z-]*)", text, re.MULTILINE)
    check(found, "--help lists no option")
    return found


def commands():
    names = re.findall(r"^  ([a-z]+(?: [a-z-]+)?) +[A-Z]", help_of("creditbridgectl"),
                       re.MULTILINE)
    check(len(names) > 50 and "dealer key-add" in names, f"these are not the commands: {names}")
    return names


def tells_option(text, name):
    return re.search(rf"(?m)^\.(?:It|Fl)\b.*\bFl -{name}(?![a-z-])", text)


def none(findings, rule):
    check(not findings, rule + ":\n" + "\n".join(findings))


def items(text):
    """{key: text} of the items at the outer level of a page's lists, by their line."""
    found, depth, key = {}, 0, None
    for line in text.splitlines():
        if line.startswith(".Bl"):
            depth += 1
        elif line.startswith(".El"):
            depth -= 1
        elif line.startswith(".It") and depth == 1:
            key = line[4:]
        if depth == 0:
            key = None
        elif key is not None:
            found[key] = found.get(key, "") + line + "\n"
    return found


def case_settings():
    source = (SRCDIR / "src" / "base" / "settings_options.c").read_text()
    told = items(page("creditbridge.conf.5"))
    header = (SRCDIR / "src" / "base" / "settings.h").read_text()
    macros = dict(MACRO.findall(source + header))
    macros["100 + LEASE_SPARE_MS"] = str(100 + int(macros["LEASE_SPARE_MS"]))
    macros["SETTINGS_SOCKETS_SIZE - 1"] = str(int(macros["SETTINGS_SOCKETS_SIZE"]) - 1)
    findings = []
    rows = SETTING.findall(source)
    equal(len(rows), len(re.findall(r"^\tOPTION\(", source, re.MULTILINE)), "rows of the table read")
    choices = CHOICE.findall(source)
    equal(len(choices), len(re.findall(r"^\tOPTION_OF\(", source, re.MULTILINE)), "choices of the table read")
    for name, preset, one, other in choices:
        text = told.get(f"Sy {name}", "")
        for wanted in (f"\nDefault: {preset}.\n", f"\nAllowed: {one} or {other}.\n"):
            if wanted not in text:
                findings.append(f"{name}: missing: {wanted.strip()}")
    for kind, name, preset, least, most in rows:
        text = told.get(f"Sy {name}")
        least, most = macros.get(least, least), macros.get(most, most)
        preset = EMPTY if preset == "EMPTY_LIST" else preset
        default = preset.strip('"') or "empty"
        if not text:
            findings.append(f"{name} is missing")
            continue
        if f"\nDefault: {default}.\n" not in text:
            findings.append(f"{name}: its default is {default}")
        wanted = f"Allowed: {least} to {most}" if kind == "NUMBER" else \
            f"at most {most} " if most != "0" and kind != "TARGET" else "Allowed: "
        if wanted not in text:
            findings.append(f"{name}: not described: {wanted}")
    for extra in set(told) - {f"Sy {row[1]}" for row in rows} - {f"Sy {row[0]}" for row in choices}:
        if extra.startswith("Sy "):
            findings.append(f"{extra[3:]} is no option")
    none(findings, "creditbridge.conf(5) has every option with default and range")


def command_texts():
    """{command: its item, with the subsections that it refers to}"""
    text = page("creditbridgectl.8")
    sections = dict(re.findall(r"(?ms)^\.Ss (.*?)\n(.*?)(?=^\.S[hs] )", text))
    found = {}
    for section in sections.values():
        for key, item in items(section).items():
            name = re.match(r"Ic ((?:[a-z-]+ ?)+)(?= |$)", key)
            if name:
                found[name.group(1).strip()] = item + "".join(
                    sections[to] for to in re.findall(r'(?m)^\.Sx "(.*)"$', item))
    return found


def case_commands():
    told = command_texts()
    findings = [f"{name} is missing" for name in commands() if name not in told]
    findings += [f"{name} is no command" for name in told if name not in commands()]
    none(findings, "creditbridgectl(8) has every command and no other")


def case_command_options():
    told, findings, count = command_texts(), [], 0
    for name in commands():
        for _, option in options_in(help_of("creditbridgectl", *name.split())):
            if option in EVERYWHERE:
                continue
            count += 1
            if not tells_option(told.get(name, ""), option):
                findings.append(f"{name} --{option}")
    check(count > 80, f"only {count} options were found")
    none(findings, "creditbridgectl(8) has every option of every command")


def case_programs():
    findings = []
    for program in PROGRAMS:
        text = page(program + ".8")
        for letter, option in options_in(help_of(program)):
            if not tells_option(text, option):
                findings.append(f"{program} --{option}")
            if letter not in ("", "?") and \
                    not re.search(rf"(?m)^\.It Fl {letter} , Fl -{option}", text):
                findings.append(f"{program} -{letter}, --{option}")
    none(findings, "a program's page has its options")


def case_exit_codes():
    """The exit codes of each --help stand in the page's list of them."""
    findings = []
    for program in PROGRAMS:
        told = page(program + ".8").split(".Sh EXIT STATUS")[1].split(".El")[0]
        asked = " ".join(help_of(program).split())
        codes = re.findall(r"(?:: |; )(\d+) ",
                           re.search(r"Exit (?:status|codes):.*", asked).group())
        check(len(codes) > 2, f"{program} --help lists no exit codes: {asked}")
        findings += [f"{program}: {code}" for code in codes
                     if not re.search(rf"(?m)^\.It(?: \d+ ,)* {code}\b", told)]
    none(findings, "a program's page has its exit codes")


def case_refusals():
    rows = refusals()
    text = page("creditbridge-protocol.7").split(".Sh ERROR IDS")[1]
    findings = []
    for refusal, code, _ in rows:
        told = re.search(rf"(?m)^\.It {code} Sy .*\b{refusal}\b", text)
        if refusal and bool(told) == (refusal in NO_ANSWER):
            findings.append(f"{code} {refusal}")
    lines = " ".join(re.findall(r"(?m)^\.It \d+ Sy (.*)$", text))
    for refusal in re.findall(r"[a-z]+_[a-z_]+", lines):
        if refusal not in {row[0] for row in rows}:
            findings.append(f"{refusal} is none")
    none(findings, "creditbridge-protocol(7) has every refusal of HTTP with its code, and no other")


def case_guide_refusals():
    """The guide's table: id, status, retryable, the groups of calls, the reason, the next step."""
    rows = {refusal: (code, retryable) for refusal, code, retryable in refusals()}
    text = page("integrator-guide.md").split("\n## Errors")[1].split("\n## ")[0]
    table = re.findall(r"(?m)^\| `(\w+)` \| (\d+) \| (yes|no)[^|]* \| (A|C|A/C) \| ([^|]+) \| "
                       r"([^|]+) \|$", text)
    equal(len(table), len(re.findall(r"(?m)^\| `", text)), "rows that can be read")
    equal(sorted(row[0] for row in table), sorted(set(rows) - NO_ANSWER), "the guide's error ids")
    findings = [f"{refusal}: {rows[refusal]}" for refusal, code, retryable, *_ in table
                if rows[refusal] != (code, {"yes": "true", "no": "false"}[retryable])]
    none(findings, "the guide has every refusal with its status and whether it is retryable")


def case_installed():
    makefile = (SRCDIR / "doc" / "Makefile.inc").read_text()
    none([p.name for p in pages() if f"doc/{p.name}" not in makefile.split()],
         "every page is installed")


def case_references():
    names = {tuple(p.name.rsplit(".", 1)) for p in pages()}
    findings = []
    for path in pages():
        for name, section in re.findall(r"(?m)^\.Xr (\S+) (\d)", path.read_text()):
            if name.startswith("creditbridge") and (name, section) not in names:
                findings.append(f"{path.name}: {name}({section})")
    none(findings, "a page that is referred to is there")


def case_mandoc():
    if not shutil.which("mandoc"):
        raise Skip("mandoc is not installed")
    done = subprocess.run(["mandoc", "-Tlint", "-W", "warning", *pages()], capture_output=True,
                          text=True, timeout=30, check=False)
    # Examples come first where there are many commands.
    findings = [line for line in (done.stdout + done.stderr).splitlines()
                if not re.search(r"creditbridgectl\.8:.* sections out of conventional order: Sh ENVIRONMENT", line)]
    equal(findings, [], "mandoc -Tlint")


def completed(script, *words):
    """What bash offers for the last of @words."""
    program = words[0]
    text = script + f"""
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        read -ra rule < <(complete -p {program})
        for ((i = 0; i < ${{#rule[@]}}; i++)); do
            [[ ${{rule[i]}} == -F ]] && function=${{rule[i+1]}}
        done
        "$function" "$1" "${{@: -1}}" "${{@: -2:1}}"
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    return set(run("bash", "--norc", "-c", text, "bash", *words).split())


def case_completion():
    script = run(BUILDDIR / "creditbridgectl", "completion")
    names = commands()
    equal(completed(script, "creditbridgectl", ""), {name.split()[0] for name in names},
          "first words")
    for group in {name.split()[0] for name in names if " " in name}:
        wanted = {name.split()[1] for name in names if name.startswith(group + " ")}
        equal(completed(script, "creditbridgectl", "--config", "=", "x", group, ""), wanted, group)
    for name in names:
        text = help_of("creditbridgectl", *name.split())
        wanted = {"--" + option for _, option in options_in(text)}
        equal(completed(script, "creditbridgectl", *name.split(), "x", "--"), wanted, name)
    wanted = {"--" + option for _, option in options_in(help_of("creditbridge-sweep"))}
    equal(completed(script, "creditbridge-sweep", "--"), wanted, "creditbridge-sweep")
    equal(completed(script, "creditbridgectl", "--config", "=", "/etc/pass"),
          {f for f in ("/etc/passwd", "/etc/passwd-") if os.path.exists(f)}, "a file")


def case_completion_files():
    script = run(BUILDDIR / "creditbridgectl", "completion")
    for name in ("creditbridgectl", "creditbridge-sweep"):
        equal((BUILDDIR / "doc" / name).read_text(), script, f"doc/{name}, as it is installed")


sys.exit(run_cases([
    ("every option of the configuration", case_settings),
    ("every command", case_commands),
    ("every option of every command", case_command_options),
    ("every option of every program", case_programs),
    ("exit codes", case_exit_codes),
    ("every refusal", case_refusals),
    ("every refusal in the guide", case_guide_refusals),
    ("every page is installed", case_installed),
    ("references between pages", case_references),
    ("mandoc -Tlint", case_mandoc),
    ("completion", case_completion),
    ("completion as installed", case_completion_files),
    *ALERTS,
    *COMMANDS,
    *WORDS,
], seconds=60))
