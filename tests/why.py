#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What perfabi why answers: the stories of fixtures/why, on their machines and on this one, and what it leaves behind.

usage: why.py PERFABI SCRATCH-FOLDER [PART...]
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import platform
import random
import re
import signal
import subprocess
import sys
import threading
import time

PROC = pathlib.Path("/proc")
SYSCTLS = PROC / "sys/kernel"
NAMES = ("perf_event_paranoid", "perf_event_max_sample_rate", "perf_event_max_stack", "perf_event_mlock_kb")
NOBODY = 65534
STORIES = json.loads(pathlib.Path("fixtures/why/stories.json").read_text(encoding="utf-8"))["stories"]
MACHINE = "fixtures/machines/x86_64-6.18-vm.json"
# What cannot be told of without the errno: it opens for all that is known, and only what follows, or what comes of it, is
# amiss; or the errno alone rules out a PMU that is not modelled. No story comes to the list later than it is told.
NOT_WITHOUT_ERRNO = {
    "trace-ids-run-out", "policy-refuses-map", "policy-refuses-read", "policy-refuses-one-daemon", "runs-and-counts-nothing", "runs-and-counts-too-little", "task-on-the-other-cores",
    "raw-event-of-the-other-cores", "group-never-placed", "counts-are-shares", "period-below-the-least", "buffer-over-the-limit",
    "buffers-add-up", "buffer-in-a-container", "filter-on-software", "filter-with-unknown-field", "program-reads-too-far",
    "probe-at-offset-0", "trace-buffer-misplaced", "exclusive-beside-the-watchdog",
}

WHOLE = bool(os.environ.get("TEST_WHOLE"))  # everything, however long it takes

class Wrong(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Wrong(text)


class Asking:
    """perfabi why, and where its files go; `before` is a command that runs it."""

    def __init__(self, perfabi, folder, *before):
        self.perfabi, self.folder, self.before = perfabi, pathlib.Path(folder), before

    def run(self, *arguments, text=None, **how):
        """The process, ended; `text` is its standard input."""
        given = text.encode() if isinstance(text, str) else text
        return subprocess.run([*self.before, self.perfabi, "why", *arguments], input=given if text is not None else b"", capture_output=True, check=False,
                              **how)

    def answer(self, *arguments, text=None, status=None, **how):
        run = self.run("--json", *arguments, text=text, **how)
        said = run.stdout.decode()
        need(run.returncode in ((0, 1, 4) if status is None else (status,)), f"exit status {run.returncode} of {arguments}: {run.stderr.decode()}{said}")
        need(said.count("\n") == 1 and said.endswith("\n"), f"not one line: {said}")
        return json.loads(said)


# Stories.


def merged(base, patch):
    """RFC 7386, but for what an environment says by null: there is none."""
    if not isinstance(patch, dict):
        return patch
    out = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None and not isinstance(out.get(key), (str, int)):
            out.pop(key, None)
            if key in ("hypervisor", "container", "lsm", "lockdown"):
                out[key] = None
        else:
            out[key] = merged(out.get(key), value)
    return out


def machine_of(asking, story):
    """The file of its machine: the base's environment with the story's members over it."""
    members = dict(story["machine"])
    report = json.loads(pathlib.Path(f"fixtures/machines/{members.pop('base')}.json").read_text(encoding="utf-8"))
    report["environment"] = merged(report["environment"], members)
    path = asking.folder / f"{story['id']}.machine.json"
    path.write_text(json.dumps(report), encoding="utf-8")
    return str(path)


def question_of(story, with_errno):
    question = {key: story[key] for key in ("as", "open", "event", "given", "then") if key in story}
    return json.dumps({**question, "errno": story["errno"]} if with_errno else question)


def checks_in(json_value):
    if isinstance(json_value, dict):
        own = {json_value["check"]} if "check" in json_value else set()
        return own.union(*map(checks_in, json_value.values()))
    return set().union(*map(checks_in, json_value)) if isinstance(json_value, list) else set()


def came_to(story, answer):
    """What the last call of the story came to, as far as the answer says."""
    if "then" in story and "then" in answer:
        return answer["then"][-1].get("errno", "ok")
    if "opened" not in answer:
        return None
    return "ok" if answer["opened"] else answer["errno"]


def faults_of(story, answer):
    """What of the story the answer does not name."""
    own = {key: value for key, value in answer.items() if key not in ("call", "told", "as", "caller")}  # the question's echo
    text = json.dumps(own, ensure_ascii=False).lower()
    faults = [f"word {word}" for word in story["words"] if word.lower() not in text]
    if story["check"] and story["check"] not in checks_in(answer):
        faults.append(f"check {story['check']}, but {sorted(checks_in(answer))}")
    got = came_to(story, answer)
    if got not in (None, story["errno"]):
        faults.append(f"{story['errno']}, but {got}")
    return faults


def each_of(stories, ask):
    """[(story, what ask() says of it)], two at a time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(zip(stories, pool.map(ask, stories)))


def calls():
    return [story for story in STORIES if not story.get("not_the_call")]


def some(stories):
    """All, or one in four, from a random one on."""
    chosen = stories if WHOLE else stories[random.randrange(4)::4]
    print(f"from {chosen[0]['id']} on")
    return chosen


def stories_by_the_model(asking):
    """Each on its machine, with what was told: the errno, the check and each word."""
    said = each_of(some(calls()), lambda s: asking.answer("--machine", machine_of(asking, s), question_of(s, True)))
    wrong = [f"{story['id']}: {'; '.join(faults_of(story, answer))}" for story, answer in said if faults_of(story, answer)]
    need(not wrong, "\n".join(wrong))
    for story, answer in said:
        need(answer["as"] == story["as"] and not answer["tried"] and answer["told"] == story["errno"], f"{story['id']}: {answer}")
        need(all(not change["tried"] for change in answer.get("changes", [])), f"{story['id']}: a change was tried on another machine")
    print(f"{len(said)} stories by the model, with the errno")


def stories_without_the_errno(asking):
    said = each_of(calls(), lambda s: asking.answer("--machine", machine_of(asking, s), question_of(s, False)))
    untold = {story["id"] for story, answer in said if faults_of(story, answer)}
    need(untold <= NOT_WITHOUT_ERRNO, f"no longer told of without the errno: {sorted(untold - NOT_WITHOUT_ERRNO)}")
    need(untold == NOT_WITHOUT_ERRNO, f"now told of without the errno; take them from the list: {sorted(NOT_WITHOUT_ERRNO - untold)}")
    print(f"{len(said) - len(untold)} of {len(said)} stories without the errno")


def stories_not_of_the_call(asking):
    """A tool failed: the call itself opens, or it cannot be said. That the kernel refuses it is never said."""
    stories = [story for story in STORIES if story.get("not_the_call")]
    for story in stories:
        answer = asking.answer("--machine", machine_of(asking, story), question_of(story, True))
        need(answer["told"] == story["errno"] and answer.get("opened") is not False and "errno" not in answer, f"{story['id']}: {answer}")
        need(answer.get("as_told") is False if answer.get("opened") else answer["unknown"], f"{story['id']}: {answer}")
    need(len(stories) == 3, stories)
    print(f"{len(stories)} stories of what is not the call")


# This machine.


def sysctl(name):
    return (SYSCTLS / name).read_text(encoding="utf-8").strip() if (SYSCTLS / name).exists() else None


def sysctls():
    return {name: sysctl(name) for name in NAMES}


def not_as_base():
    """Why this machine is not as the stories' base is; None: it is."""
    here = {path.name for path in pathlib.Path("/sys/bus/event_source/devices").glob("*")}
    wanted = {"breakpoint", "software", "tracepoint", "uprobe"}
    differs = ((os.getuid() == 0, "this is not root"), (platform.machine() == "x86_64", "this is not x86-64"),
               (sysctl("perf_event_paranoid") == "2", "perf_event_paranoid is not 2"), (wanted <= here <= wanted | {"msr", "kprobe"}, f"its PMUs are {here}"),
               (sysctl("perf_event_max_sample_rate") == "100000", "perf_event_max_sample_rate is not 100000"))
    return next((text for is_so, text in differs if not is_so), None)


def reopen(asking, story, change, answer):
    """What the call comes to once the test has made the change."""
    question = {"as": change.get("as", story["as"]), "given": story.get("given", [])}
    if "open" in change:
        question["open"] = change["open"]
    else:
        question.update({key: story[key] for key in ("open", "event") if key in story})
    need("open" in change or "as" in change or "sysctl" in change, f"{story['id']}: {change}")
    with sysctls_set(change.get("sysctl", {})):
        again = asking.answer(json.dumps(question))
    need(again["opened"], f"{story['id']}: {change['do']}: {again['call']}, after {answer['call']}")


@contextlib.contextmanager
def sysctls_set(values):
    was = {name: sysctl(name) for name in values}
    try:
        for name, value in values.items():
            (SYSCTLS / name).write_text(f"{value}\n", encoding="utf-8")
        yield
    finally:
        for name, value in was.items():
            (SYSCTLS / name).write_text(f"{value}\n", encoding="utf-8")


def stories_here(asking):
    """On this machine, with the errno and without; each change that is named is made, and the call made again."""
    if not_as_base():
        print(f"left out: stories on this machine: {not_as_base()}")
        return
    here = [story for story in STORIES if story["here"]]
    said = each_of(here, lambda s: asking.answer(question_of(s, True)))
    wrong = [f"{story['id']}: {'; '.join(faults_of(story, answer))}" for story, answer in said if faults_of(story, answer)]
    need(not wrong, "\n".join(wrong))
    for story, answer in said:
        need(answer["tried"] and answer["as"] == story["as"] and ("then" in story or answer["as_told"]), f"{story['id']}: {answer}")
        # A callchain event elsewhere would keep perf_event_max_stack from being put back.
        need(all(change["tried"] != ("perf_event_max_stack" in change.get("sysctl", ())) for change in answer.get("changes", [])), f"{story['id']}: not tried: {answer.get('changes')}")
    changes = [(story, answer, change) for story, answer in said for change in answer.get("changes", [])]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda one: reopen(asking, one[0], one[2], one[1]), [one for one in changes if "sysctl" not in one[2]]))
    for story, answer, change in changes:
        if "sysctl" in change:
            reopen(asking, story, change, answer)
    useless = sum("useless" in change for _, _, change in changes)
    need(len(changes) > 100 and useless, f"{len(changes)} changes, {useless} useless")
    print(f"{len(said)} stories on this machine; {len(changes)} changes open the call, {useless} of them to no use")


def forms_of_one_call(asking):
    """The call that an answer shows as strace does asks the same again; so does the block of perf -vv."""
    count = eligible = 0
    for story in calls():
        if "given" in story or "then" in story or "$" in json.dumps(story.get("open", "")):
            continue
        eligible += 1
        if eligible % (1 if WHOLE else 10):
            continue
        one = asking.answer("-m", machine_of(asking, story), question_of(story, False))
        if "opened" not in one or "/* byte" in one["call"]:
            continue
        again = asking.answer("-m", machine_of(asking, story), "--as", story["as"], text=f"[pid 77] {one['call']}\n")
        need(again.pop("as_told"), f"{story['id']}: {one['call']}")
        again.pop("told")
        need(one == again, f"{story['id']}: {one['call']}\n{one}\n{again}")
        count += 1
    need(count >= (81 if WHOLE else 8), count)
    block = ("------------------------------------------------------------\nperf_event_attr:\n  type                             1 (software)\n"
             "  size                             136\n  config                           2 (PERF_COUNT_SW_PAGE_FAULTS)\n"
             "  { sample_period, sample_freq }   200000\n  sample_type                      IP|TID|TIME\n  disabled                         1\n"
             "  freq                             1\n  exclude_kernel                   1\n  exclude_hv                       1\n"
             "------------------------------------------------------------\n"
             "sys_perf_event_open: pid 4711  cpu -1  group_fd -1  flags 0x8\nsys_perf_event_open failed, error -22\n")
    line = ("perf_event_open({type=PERF_TYPE_SOFTWARE, size=0x88 /* PERF_ATTR_SIZE_VER8 */, config=PERF_COUNT_SW_PAGE_FAULTS, sample_freq=200000, "
            "sample_type=PERF_SAMPLE_IP|PERF_SAMPLE_TID|PERF_SAMPLE_TIME, disabled=1, exclude_kernel=1, exclude_hv=1, freq=1}, 0, -1, -1, "
            "PERF_FLAG_FD_CLOEXEC) = -1 EINVAL (Invalid argument)\n")
    question = {"errno": "EINVAL", "open": {
        "attr": {"type": "software", "size": 136, "config": "page_faults", "freq": 1, "sample_freq": 200000, "sample_type": ["ip", "tid", "time"],
                 "disabled": 1, "exclude_kernel": 1, "exclude_hv": 1}, "pid": 0, "cpu": -1, "flags": "fd_cloexec"}}
    for where in (["-m", MACHINE], []):
        answers = [asking.answer(*where, "--as", "user", text=text, status=1) for text in (block, line, json.dumps(question))]
        need(answers[0] == answers[1] == answers[2], f"{answers}")
        need(answers[0]["check"] == "O035" and answers[0]["as_told"], answers[0])
        with_argument = asking.answer(*where, "--as", "user", line)
        need(with_argument == answers[0], with_argument)
    print(f"{count} calls as strace shows them, and one in each form")


def statuses_and_text(asking):
    def text_of(status, *arguments, **how):
        run = asking.run(*arguments, **how)
        need(run.returncode == status, f"exit status {run.returncode}, not {status}, of {arguments}: {run.stderr.decode()}")
        return run.stdout.decode()

    text = text_of(1, "-m", MACHINE, "--as", "user", "page-faults")
    need(re.match(r"perf_event_open\({type=PERF_TYPE_SOFTWARE, size=\d+, config=PERF_COUNT_SW_PAGE_FAULTS}, 0, -1, -1, 0\) = -1 EACCES \(Permission denied\)\nby an ordinary user", text), text)
    for part in ("EACCES from O031 in sys_perf_event_open", "exclude_kernel is 0", "It opens, by the model, if you do one of these:\n  1. set exclude_kernel to 1",
                 "You lose the kernel's work for the program", "set the sysctl kernel.perf_event_paranoid to 1"):
        need(part in text, f"the text does not say: {part}\n{text}")
    need(all(len(line) <= 100 for line in text.splitlines()[1:]), text)
    text = text_of(0, "-m", MACHINE, "--as", "user", "cpu-clock:u")
    need("It opens, but note:" in text and "\nby an ordinary user without capabilities\n" in text, text)
    text_of(4, "-m", MACHINE, "--as", "root", '{"type": "tracepoint", "config": 7}')
    need("usage: perfabi why" in text_of(0, "--help"), "no help")
    need(b'nearest:  "cycles"' in asking.run("cylces").stderr, "a nearest name")
    need("2 calls were refused there" in text_of(1, "-m", MACHINE, text="perf_event_open({type=1, size=0x88, config=1}, 0, -1, -1, 0) = -1 EACCES (x)\nopenat(AT_FDCWD, \"/x\", O_RDONLY) = -1 ENOENT (x)\n" * 2), "which one")
    steps = asking.answer("-m", MACHINE, "--pages", "1", '{"event": "cpu-clock:u", "then": {"ioctl": {"request": "set_output", "arg": -1}}}')["then"]
    need([step["call"].split("(")[0] for step in steps] == ["mmap", "ioctl"] and steps[1]["call"].endswith(", -1)"), steps)
    need("No privilege helps" in text_of(1, "-m", MACHINE, "--as", "user", "cycles:u"), "privileges for want of a PMU")
    need("Elsewhere it gave EPERM; by the model it opens." in text_of(0, "-m", MACHINE, '{"event": "cpu-clock:u", "errno": "EPERM"}'), "what was told")
    for question in ("cpu-clock", "cpu-clock:u", "cycles"):
        here, there = asking.run("--as", "user", question), asking.answer("--as", "user", question)
        need(here.stdout.decode().startswith(there["call"] + "\nby " + there["caller"]), here.stdout)
    print("exit statuses, and the answer for people")


def on_other_machines(asking):
    """Recorded machines, changed a little: what is told goes by what they are."""
    def answer(question, change):
        machine = json.loads((pathlib.Path(MACHINE)).read_text())
        change(machine["environment"])
        path = asking.folder / "other.json"
        path.write_text(json.dumps(machine))
        return json.loads(asking.run("-m", str(path), "--json", text=json.dumps(question).encode()).stdout)

    def closed(env):
        env["sysctls"]["perf_event_paranoid"] = 4
        env["identities"]["user"] = env["identities"]["perfmon"] = "opens nothing: EACCES"

    def limited(env):
        env["memlock"] = 8 << 20

    got = answer({"as": "user", "event": "cycles"}, closed)
    need(got["check"] == "O029" and got["callers"]["root"] == "ENOENT" and got["changes"][0]["as"] == "sys-admin", got)
    need(got["changes"][0]["do"] == ["run with CAP_SYS_ADMIN (setcap cap_sys_admin=ep PROGRAM; for a container, --cap-add SYS_ADMIN)", "count cpu-clock (PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK)"], got)
    # Some of these kernels take CAP_PERFMON: what was recorded decides.
    got = answer({"as": "user", "event": "cpu-clock"}, lambda env: (closed(env), env["identities"].update(perfmon="opens events")))
    need(got["check"] == "O029" and "without CAP_PERFMON" in got["because"] and got["changes"][0]["as"] == "perfmon", got)
    # What was told is of the call behind the open, and says nothing of the open; the buffer would fit alone.
    got = answer({"as": "user", "event": "cpu-clock:u", "then": {"mmap": {"pages": 256}}, "errno": "EPERM"}, limited)
    need(not any("for want of rights" in note["says"] for note in got["notes"]) and got["then"][0]["suspects"][0]["check"] == "M008", got)
    need("would fit alone" in got["then"][0]["suspects"][0]["because"], got)
    got = answer({"as": "user", "event": "cpu-clock:u", "then": {"mmap": {"pages": 1 << 20}}, "errno": "EPERM"}, limited)
    need("would fit alone" not in got["then"][0]["suspects"][0]["because"], got)
    got = answer({"as": "user", "event": "cpu-clock:u", "errno": "EPERM"}, lambda env: None)
    need([("for want of rights" in note["says"], "seccomp filter" in note["says"]) for note in got["notes"]][0] == (False, True), got)
    got = answer({"as": "user", "event": "cpu-clock:u", "errno": "EACCES"}, lambda env: None)
    need(any("for want of rights" in note["says"] for note in got["notes"]), got)
    got = answer({"as": "perfmon", "event": "cpu-clock"}, closed)
    need(got["changes"][0]["as"] == "sys-admin", got)
    got = answer({"as": "root", "event": "cycles:u"}, lambda env: env.update(init_user_namespace=False))
    need(got["caller"].startswith("root in a user namespace"), got)
    # A kprobe is not refused by lockdown unless somebody says EPERM.
    probe = {"as": "root", "open": {"attr": {"type": "$pmu.kprobe", "kprobe_addr": "0x1000"}, "pid": -1, "cpu": 0}}
    with_kprobes = lambda env: env["pmus"].update(kprobe=6)
    need("locked down" not in answer(probe, with_kprobes)["suspects"][0]["because"], "a kprobe, and no errno")
    need("locked down" in answer({**probe, "errno": "EPERM"}, with_kprobes)["suspects"][0]["because"], "EPERM of a kprobe")
    # --pages: what was told is of the open, and not of the mmap(2).
    pasted = "perf_event_open({type=PERF_TYPE_SOFTWARE, size=0x88, config=PERF_COUNT_SW_CPU_CLOCK, exclude_kernel=1}, 0, -1, -1, 0) = -1 EACCES (x)"
    got = json.loads(asking.run("-m", MACHINE, "--json", "--pages", "1", text=pasted.encode()).stdout)
    need(got["told"] == "EACCES" and got["as_told"] is False and "errno" not in got["then"][0], got)
    print("other machines, by the model")


def counted_for_nothing(asking):
    """An event that opens and counts nothing is counted; one that counts is not said to be of no use."""
    answer = asking.answer("--as", "user", "context-switches:u", status=0)
    useless = [note for note in answer["notes"] if note.get("useless")]
    need(answer["counted"]["value"] == 0 and answer["counted"]["time_enabled"] > 0 and answer["counted"]["switches"] > 0, answer)
    need(len(useless) == 1 and useless[0]["proven"] and "context_switch" in useless[0]["says"], answer)
    for event, least in (("page-faults:u", 60), ("task-clock:u", 1000)):
        answer = asking.answer("--as", "user", event, status=0)
        need(answer["counted"]["value"] >= least and not any(note.get("useless") for note in answer["notes"]), answer)
    # It is switched on to be counted, and so is its leader.
    faults = {"attr": {"type": "software", "config": "page_faults", "exclude_kernel": 1, "disabled": 1}}
    group = {"as": "user", "given": [{"open": faults, "bind": "leader"}], "open": {**faults, "group_fd": "$leader"}}
    for question in ({"as": "user", "open": faults}, group):
        answer = asking.answer(json.dumps(question), status=0)
        need(answer["counted"]["value"] >= 60, answer)
    answer = asking.answer("-m", MACHINE, "--as", "user", "context-switches:u", status=0)
    need("counted" not in answer and not any(note["proven"] for note in answer["notes"] if note.get("useless")), answer)
    print("what counts nothing is counted")


def buffers(asking):
    answer = asking.answer("--as", "user", "--pages", "3", "cpu-clock:u", status=1)
    step = answer["then"][0]
    need(answer["opened"] and step["errno"] == "EINVAL" and step["suspects"][0]["check"] == "M005", answer)
    need(step["call"] == f"mmap(NULL, {4 * os.sysconf('SC_PAGESIZE')}, PROT_READ|PROT_WRITE, MAP_SHARED, fd, 0)", step)
    answer = asking.answer("--as", "user", "--pages", "32768", "cpu-clock:u", status=1)
    step, largest = answer["then"][0], answer["then"][0].get("largest", 0)
    need(step["errno"] == "EPERM" and step["suspects"][0]["check"] == "M008", answer)
    need(largest > 0 and largest & largest - 1 == 0, answer)
    need(asking.answer("--as", "user", "--pages", str(largest), "cpu-clock:u", status=0)["then"][0].get("errno") is None, largest)
    need(asking.answer("--as", "user", "--pages", str(2 * largest), "cpu-clock:u", status=1)["then"][0]["errno"] == "EPERM", largest)
    then = [{"ioctl": {"request": "enable"}}, {"mmap": {"pages": 1}}, {"read": {"size": 4}}, {"poll": {}}]
    answer = asking.answer(json.dumps({"as": "user", "event": "cpu-clock:u", "then": then}), status=1)
    need([step.get("errno") for step in answer["then"]] == [None, None, "ENOSPC"], answer)
    print(f"buffers: at most 1 + {largest} pages for a user")


def ioctls(asking):
    """The causes of an ioctl(2) that is refused, the kernel's word for the errno."""
    other = [{"open": {"attr": {"type": "software", "config": "dummy", "exclude_kernel": 1, "exclude_hv": 1}, "pid": 0, "cpu": -1}, "bind": "other"}]
    rows = [("set_bpf", {"arg": -1}, [], "EBADF", "I036"), ("set_output", {"arg": 0}, [], "EBADF", "I017"), ("pause_output", {"arg": 1}, [], "EINVAL", "I045"),
            ("set_output", {"arg": "$other"}, [], "EINVAL", "I025"), ("set_output", {"arg": -1}, [{"mmap": {"pages": 1}}], "EINVAL", "I024"),
            ("set_output", {"arg": -1}, [], None, None), ("set_output", {"arg": "$other"}, [{"mmap": {"pages": 1}}], "EINVAL", "I024")]
    for request, argument, before, err, check in rows:
        question = {"as": "user", "event": "cpu-clock:u", "given": other, "then": [*before, {"ioctl": {"request": request, **argument}}]}
        step = asking.answer(json.dumps(question), status=1 if err else 0)["then"][-1]
        need(step.get("errno") == err, (question, step))
        need(not err or check in [one["check"] for one in step["suspects"] if one["because"]], (question, step))
        alone = (request, argument["arg"], err) == ("set_output", -1, "EINVAL")
        need(not alone or len(step["suspects"]) == 1, step)
    question = {"as": "user", "event": "cpu-clock:u", "then": {"ioctl": {"request": "modify_attributes", "u64": 0}}, "errno": "EOPNOTSUPP"}
    step = asking.answer("-m", MACHINE, json.dumps(question))["then"][0]
    need([one["check"] for one in step["suspects"]] == ["I053"], step)
    print(f"{len(rows)} ioctls")


def processes_of(asking):
    """Those of this perfabi that run, and so hold what events there are; what has ended waits for init."""
    found = set()
    for process in PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.readlink(process / "exe") == os.path.realpath(asking.perfabi):
                found.add(process.name)
    return found


def wait_for(what, seconds=600):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.02)
    return False


def killed_while_it_tries(asking):
    """SIGKILL while a sysctl is another: it comes back, and nobody stays."""
    if os.getuid():
        print("left out: sysctls are root's to set")
        return
    was = sysctls()
    for name, question, at_most in (("perf_event_paranoid", {"as": "user", "event": "cpu-clock"}, 60),
                                    ("perf_event_max_sample_rate", {"as": "user", "open": {"attr": {"type": "software", "config": "page_faults", "freq": 1, "sample_freq": 200000, "exclude_kernel": 1}}}, 60)):
        hits, enough, file = 0, 5 if WHOLE else 2, os.open(SYSCTLS / name, os.O_RDONLY)
        first = os.pread(file, 32, 0)
        for _ in range(at_most):
            with subprocess.Popen([asking.perfabi, "why", json.dumps(question)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
                while run.poll() is None and os.pread(file, 32, 0) == first:
                    pass
                if run.poll() is None:
                    run.send_signal(signal.SIGKILL)
                    hits += run.wait() == -signal.SIGKILL
            need(wait_for(lambda: os.pread(file, 32, 0) == first), f"{name} stayed: {sysctls()}, not {was}")
            if hits == enough:
                break
        os.close(file)
        need(hits == enough, f"why was never killed while {name} was another: {hits} times")
    need(sysctls() == was, f"{sysctls()}, not {was}")
    need(wait_for(lambda: not processes_of(asking)), f"left: processes {processes_of(asking)}")
    print("killed while it tries a sysctl: nothing stays")


def as_nobody():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def errnos_of_elsewhere(asking):
    """What came elsewhere has its causes, though the model says something else of the call."""
    open_of = {"attr": {"type": "software", "config": "cpu_clock"}, "pid": 0, "cpu": -1}
    answer = asking.answer("-m", MACHINE, "--as", "root", "-", status=1, text=json.dumps({"open": {**open_of, "group_fd": 1020}, "errno": "EMFILE"}))
    need((answer["check"], answer["errno"], [one["check"] for one in answer["suspects"]]) == ("O042", "EBADF", ["O041"]), answer)
    answer = asking.answer("-m", MACHINE, "--as", "root", "-", status=0, text=json.dumps({"open": open_of, "errno": "EMFILE"}))
    need(answer["opened"] and [one["check"] for one in answer["suspects"]] == ["O041"], answer)
    # Of a process that has ended, as strace(1) shows the members of a group.
    with subprocess.Popen(["true"]) as ended:
        pass
    line = "perf_event_open({{type=PERF_TYPE_SOFTWARE, size=128, config=PERF_COUNT_SW_{}, disabled=1, exclude_kernel=1}}, {}, -1, {}, 0) = {}\n"
    text = line.format("PAGE_FAULTS", ended.pid, -1, 3) + line.format("CPU_CLOCK", ended.pid, 3, "-1 EINVAL (Invalid argument)")
    answer = asking.answer("-", status=0, text=text)
    need(answer["opened"] and answer["as_told"] is False and len(answer["instead_of"]) == 1, answer)
    said = asking.run("-m", MACHINE, "--as", "root", "-", text=json.dumps({"open": open_of, "errno": "EMFILE"})).stdout.decode()
    need("Where it gave EMFILE, the cause can be:" in said, said)


def without_privilege(asking):
    """An ordinary user is told what root could do, and that it was not tried."""
    if os.getuid():
        print("left out: this is not root")
        return
    if sysctl("perf_event_paranoid") != "2":
        print("left out: perf_event_paranoid is not 2")
        return
    was = sysctls()
    answer = asking.answer("cpu-clock", status=1, preexec_fn=as_nobody)
    need(answer["as"] == "user" and answer["tried"] and answer["check"] == "O031", answer)
    need([change["tried"] for change in answer["changes"] if "open" in change] == [True], answer)
    of_sysctls = [change for change in answer["changes"] if "sysctl" in change]
    need(len(of_sysctls) == 1 and of_sysctls[0]["sysctl"] == {"perf_event_paranoid": 1} and of_sysctls[0]["tried"] is False, answer)
    of_callers = [change for change in answer["changes"] if "as" in change]
    need(len(of_callers) == 1 and of_callers[0]["as"] == "perfmon" and of_callers[0]["tried"] is False, answer)
    need(asking.answer("cpu-clock:u", status=0, preexec_fn=as_nobody)["opened"], "a user's own event")
    run = asking.run("--as", "root", "cpu-clock", preexec_fn=as_nobody)
    need(run.returncode == 2 and b"not as root" in run.stderr, run.stderr)
    need(asking.answer("-m", MACHINE, "--as", "root", "cpu-clock", status=0, preexec_fn=as_nobody)["opened"], "root elsewhere")
    need(sysctls() == was, sysctls())
    print("as an ordinary user")


def behind_a_filter(asking):
    """A seccomp filter that answers perf_event_open with EPERM, as that of a container; and one that kills."""
    behind = [sys.executable, "tests/filter.py"]
    if subprocess.run([*behind, "EPERM", "true"], stdout=subprocess.DEVNULL, check=False).returncode:
        print("left out: no filter of the call can be made here")
        return
    filtered = Asking(asking.perfabi, asking.folder, *behind, "EPERM")
    for question in ("cpu-clock:u", "cycles", '{"attr": {}, "memory": "null", "flags": 16}'):
        answer = filtered.answer("--as", "user", question, status=1)
        need(answer["errno"] == "EPERM" and answer["check"] == "S001", answer)
        need(any("seccomp" in other["says"] for other in answer["others"]), answer)
        need(not answer["changes"] and "opens" not in answer.get("callers", {}).values(), answer)
    text = filtered.run("cpu-clock").stdout.decode()
    need("seccomp" in text and "EPERM from S001" in text, text)
    killed = Asking(asking.perfabi, asking.folder, *behind, "KILL").run("cpu-clock")
    need(killed.returncode == 4 and b"a seccomp filter kills" in killed.stderr, killed)
    print("a seccomp filter is named")


def absences(asking):
    """What the machine does not have is an answer; a raw event stands for one of a processor's PMU."""
    readable = os.access("/sys/kernel/tracing/events", os.R_OK | os.X_OK) or os.access("/sys/kernel/debug/tracing/events", os.R_OK | os.X_OK)
    traced = "tracepoint" if readable or not os.geteuid() else "tracefs"
    has_sysfs = os.path.exists("/sys/bus/event_source/devices/software")
    for name, what in (("nosuch/x=1/u", "pmu"), ("nosuch/x=1/q", None), ("nosuch/", None), ("no:such", traced), ("no:such:u", traced), ("no:such/period=1/", traced), ("duration_time:u", "call")):
        run = asking.run("--json", name)
        if not what:
            need(run.returncode == 2, f"{name}: exit status {run.returncode}")
            continue
        need(run.returncode == 1, f"{name}: exit status {run.returncode} {run.stderr}")
        answer = json.loads(run.stdout)
        need(answer["opened"] is False and answer["absent"] == what and name.startswith(answer["name"]) and answer["because"] and answer["instead"], answer)
        need(("software" in answer.get("there", [])) == (what == "pmu" and has_sysfs), answer)
        text = asking.run(name).stdout.decode()
        need(text.startswith(f"{answer['name']}: {answer['is']}\n  ") and "What to do: " in text, text)
    for name, expected in (("{cycles,instructions}:S", "of a group, each member by itself"), ("uprobe:/usr/bin/ls:0x1000", "a PMU stands before the colon" if os.path.exists("/sys/bus/event_source/devices/uprobe") else "a modifier")):
        run = asking.run(name)
        need(run.returncode == 2 and expected in run.stderr.decode(), f"{name}: {run.stderr}")
    for hypervisor, is_there in (("kvm", "not in this virtual machine"), (None, "not on this machine")):
        machine = json.loads(pathlib.Path(MACHINE).read_text())
        machine["environment"]["hypervisor"] = hypervisor
        (asking.folder / "hypervisor.json").write_text(json.dumps(machine))
        answer = asking.answer("-m", str(asking.folder / "hypervisor.json"), "intel_pt//", status=1)
        need(answer["is"] == is_there and answer["there"] == list(machine["environment"]["pmus"]), answer)
        answer = asking.answer("-m", str(asking.folder / "hypervisor.json"), "kprobe//", status=1)
        need(answer["is"] == "not in this kernel", answer)
    # What is said of a name is about that machine: its architecture, and whether the kernel is locked down.
    machine["environment"].update(arch="arm64", machine="aarch64")
    (asking.folder / "hypervisor.json").write_text(json.dumps(machine))
    need("kpti=off" in asking.answer("-m", str(asking.folder / "hypervisor.json"), "arm_spe_0//", status=1)["instead"], "SPE and KPTI")
    need("kpti" not in asking.answer("-m", str(asking.folder / "hypervisor.json"), "power//", status=1)["instead"], "KPTI is about SPE")
    if os.path.exists("/sys/bus/event_source/devices/uprobe/format/retprobe"): # a term on top of config
        need("config=0x5}" in asking.answer("uprobe/config=4,retprobe/")["call"], "uprobe/config=4,retprobe/")
    # A machine with a processor's PMU has it by its own name alone.
    machine["environment"]["pmus"]["armv8_pmuv3_0"] = 10
    (asking.folder / "hypervisor.json").write_text(json.dumps(machine))
    need(asking.answer("-m", str(asking.folder / "hypervisor.json"), "cpu/event=0x3c/", status=1)["absent"] == "pmu", "another processor's PMU")
    answer = json.loads(asking.run("--json", "-m", MACHINE, "cpu/event=0x3c/pp").stdout)
    need("type=PERF_TYPE_RAW" in answer["call"] and "precise_ip=2" in answer["call"] and answer["instead_of"][0].startswith("There is no PMU cpu here."), answer)
    print("what is not there is told")


def wrong_questions(asking):
    """Each is refused with what was expected, and nothing is done."""
    dummy = {"type": "software", "config": "dummy"}
    steps = [{"open": {"attr": dummy}, "bind": f"e{n}"} for n in range(1000)]
    texts = ["", " ", "{", "{}", "[]", "null", "nosuch", "cycles cycles", "cycles:q", "mem:", "mem:0x1000:q", "12", "-", "r", "\x01",
             b"\xff\xfe", b"cycles\0", b"\0", b"\0" * 4096, "x" * 600, "x" * (1 << 20), "x" * (1 << 22), "cycles" + " " * (1 << 20) + "x", "[" * 100000,
             '{"attr":' * 3000, '{"attr":' * 1000 + "1" + "}" * 1000, '{"open": {"attr": {"config": ' + "[" * 1900 + "]" * 1900 + "}}}",
             "perf_event_open(", "perf_event_open({", "perf_event_open({" * 50000, "perf_event_open({type=PERF_TYPE_SOFTWARE, ...}, 0, -1, -1, 0) = 3",
             "perf_event_open({type=PERF_TYPE_NOPE}, 0, -1, -1, 0) = 3", "perf_event_open({type=1}, x, -1, -1, 0) = 3",
             b"perf_event_open({type=\xff}, 0, -1, -1, 0) = 3", "perf_event_attr:", "perf_event_attr:\n", "perf_event_attr:\n  typo 1\n",
             "perf_event_attr:\n  type " + "9" * 100000, '{"event": "dummy"', '{"event": "dummy", "event": "dummy"}', '{"event": "dummy"} x']
    kinds = [None, True, 5, -1, 1.5, "x", "", [], [5], [[]], [None], {}, {"x": 1}, 1 << 62]
    fields = {"as": kinds, "event": kinds, "errno": kinds, "given": [k for k in kinds if k != []], "then": [k for k in kinds if k != []]}
    for key, values in fields.items():
        texts += [json.dumps({"event": "dummy", key: value}) for value in values]
    texts += [json.dumps({"open": value}) for value in kinds if value != {}]
    texts += [json.dumps({"attr": value}) for value in kinds if value != {}]
    texts += [json.dumps({"open": {"attr": dummy, key: value}}) for key in ("pid", "cpu", "group_fd", "flags")
              for value in ([], {}, "x", 1.5, True, None, 1 << 31, -(1 << 31) - 1) if (key, value) != ("flags", [])  and not (key == "flags" and isinstance(value, int) and not isinstance(value, bool))]
    texts += [json.dumps({"open": {"attr": {**dummy, "config": value}}}) for value in ({}, "x", 1.5, True, None, [[]])]
    texts += [json.dumps({"open": {"attr": dummy, **extra}}) for extra in ({"bytes": 5}, {"bytes": {"x": 1}}, {"memory": 5}, {"memory": "x"}, {"x": 1})]
    texts += [json.dumps({"event": "dummy", "given": steps}), json.dumps({"event": "dummy", "then": [{"poll": {}}] * 9}),
              json.dumps({"event": "dummy", "then": [{"poll": {}, "read": {}}]}), json.dumps({"event": "dummy", "then": [{"mmap": {"pages": "x"}}]}),
              json.dumps({"open": {"attr": dummy, "group_fd": "$nobody"}}),
              json.dumps({"open": {"attr": dummy, "group_fd": "$nobody"}, "given": steps[:1]}),
              json.dumps({"open": {"attr": dummy}, "given": [{"open": {"attr": dummy}, "bind": "UPPER"}]}),
              json.dumps({"open": {"attr": dummy}, "given": [{"nosuch": 1}]}), json.dumps({"open": {"attr": dummy}, "event": "dummy"})]

    said = {texts[-9]: "/given/", texts[-8]: "at most 8 calls", texts[-7]: "one of mmap, munmap, ioctl, read and poll", texts[-6]: "/then/0/mmap/pages",
            texts[-5]: "/open/group_fd", texts[-4]: "/open/group_fd", texts[-3]: "/given/0/bind", texts[-2]: "/given/0", texts[-1]: "not both",
            json.dumps({"open": {"attr": dummy, "pid": 1 << 31}}): "a value of 32 signed bits", b"cycles\0": "a text in UTF-8, without NUL",
            "cycles cycles": "one event, and nothing behind it", "x" * (1 << 22): "more than 1048576 bytes", "{}": "`open`, or `event`",
            "nosuch": "an event, as perf list shows them", '{"attr":' * 3000: "nested less deeply",
            json.dumps({"event": "dummy", "as": 5}): "root, perfmon, sys-admin or user", json.dumps({"event": "dummy", "errno": "x"}): "an errno's name, or ok"}
    need(set(said) <= set(texts), set(said) - set(texts))

    def refused(one):
        where, text = one
        run = asking.run(*where, text=text)
        need(run.returncode == 2 and not run.stdout, f"exit status {run.returncode} of {text[:300]!r} {where}: {run.stdout[:300]} {run.stderr[:300]}")
        need(b"expected" in run.stderr or b"more than" in run.stderr, f"{text[:300]!r}: {run.stderr}")
        need(said.get(text, "").encode() in run.stderr, f"{text[:300]!r}: {run.stderr}, not {said.get(text)}")
        need(len(run.stderr) < 4096, f"{text[:300]!r}: {len(run.stderr)} bytes")

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(refused, [(where, text) for text in texts for where in (["-m", MACHINE], [])]))
    for arguments in (["--as", "nobody", "cycles"], ["--pid", "2147483648", "cycles"], ["--pid", "-2", "cycles"], ["--cpu", "x", "cycles"], ["--pages", "-1", "cycles"],
                      ["--pages", "", "cycles"], ["--pages", "99999999999", "cycles"], ["-m", "/nosuch", "cycles"], ["-m", "Makefile", "cycles"], ["cycles", "cycles"],
                      ["--nosuch"], ["--cases", "/nosuch", "cycles"]):
        run = asking.run(*arguments)
        need(run.returncode == 2 and run.stderr and not run.stdout, f"{arguments}: {run.returncode} {run.stderr}")
    need(wait_for(lambda: not processes_of(asking)), f"left: processes {processes_of(asking)}")
    print(f"{2 * len(texts)} wrong questions")


LONG = stories_without_the_errno, stories_here, wrong_questions
OF_THE_MODEL = stories_by_the_model, stories_without_the_errno, stories_not_of_the_call, on_other_machines  # of recorded machines


def undisturbed(part, asking):
    """Runs it, and again where a sysctl of perf moved meanwhile: answers go by them, and other users of this machine set them."""
    for last in (False, False, True):
        was, moved, over = sysctls(), threading.Event(), threading.Event()

        def watch(was=was, moved=moved, over=over):
            while not over.wait(0.05):
                if sysctls() != was:
                    moved.set()

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            return part(asking)
        except Wrong as wrong:
            if last or not (moved.is_set() or sysctls() != was):
                raise
            print(f"again, for a sysctl moved: {part.__name__}: {wrong}")
        finally:
            over.set()
            watcher.join()


def main():
    perfabi, scratch, *wanted = sys.argv[1:]
    folder = pathlib.Path(scratch) / "why"
    folder.mkdir()
    asking, was = Asking(perfabi, folder), sysctls()
    part = main
    opens = not os.environ.get("OPENS_NOTHING")
    try:
        for part in (stories_by_the_model, stories_without_the_errno, stories_not_of_the_call, stories_here, forms_of_one_call, statuses_and_text, on_other_machines,
                     counted_for_nothing, buffers, ioctls, killed_while_it_tries, errnos_of_elsewhere, without_privilege, behind_a_filter, absences, wrong_questions):
            began = time.monotonic()
            if not opens and part not in OF_THE_MODEL:
                print(f"left out: {part.__name__}, for perf_event_open opens nothing for a user here")
            elif part.__name__ in wanted or (not wanted and (WHOLE or part not in LONG)):
                undisturbed(part, asking)
                print(f"  {time.monotonic() - began:.1f} s", file=sys.stderr)
        need(wait_for(lambda: sysctls() == was), f"sysctls are {sysctls()}, and were {was}")
        need(wait_for(lambda: not processes_of(asking)), f"left: processes {processes_of(asking)}")
    except Wrong as wrong:
        sys.exit(f"{part.__name__}: {wrong}")


if __name__ == "__main__":
    main()
