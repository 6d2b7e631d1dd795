# SPDX-License-Identifier: BSD-2-Clause
"""Whether ibv_conform's JSON and JUnit files say of the cases of cases.c what they should."""
import json
import sys
import xml.etree.ElementTree

with open(sys.argv[1], encoding="ascii") as file:
    run = json.load(file)
suites = xml.etree.ElementTree.parse(sys.argv[2]).getroot()

NAME = "fake<\"&'\\\n?>"
assert run["device"]["name"] == NAME, run["device"]
assert (run["device"]["port"], run["device"]["gid_index"], run["device"]["gid"]) == (1, 2, "fe80::1")
assert run["library"] == "libfake.so" and run["strict"] is False
results = {case["object"] + "." + case["operation"]: case for case in run["cases"]}
status = results["bad.status"]
assert (status["result"], status["call"], status["check"]) == ("failed", "post_nothing(0)", "wc.status"), status
assert (status["expected"], status["seen"]) == ("IBV_WC_SUCCESS (0)", "12 (no answer)"), status
assert status["where"].startswith("cases.c:"), status
assert results["rough.dies"]["seen"] == "signal 6 (Aborted)"
assert results["rough.scribbles"]["result"] == "failed"
assert results["lacking.refused"]["reason"] == "ibv_make_something: Operation not supported"
assert results["lacking.alien"]["result"] == "not run"
SUMS = {"passed": 1, "failed": 12, "not offered": 3, "not run": 1}
assert run["objects"]["all"] == SUMS, run["objects"]["all"]
assert run["objects"]["good"] == {"passed": 1, "failed": 0, "not offered": 0, "not run": 0}

assert suites.tag == "testsuites"
assert [suite.get("name") for suite in suites] == ["good", "bad", "rough", "lacking"]
for attribute, sum_ in (("tests", 17), ("failures", 12), ("skipped", 4), ("errors", 0)):
    assert int(suites.get(attribute)) == sum_, attribute
    assert sum(int(suite.get(attribute)) for suite in suites) == sum_, attribute
assert len(suites.findall("*/testcase")) == 17
assert len(suites.findall("*/testcase/failure")) == 12
assert len(suites.findall("*/testcase/skipped")) == 4
device = suites.find("testsuite/properties/property[@name='device']")
assert device.get("value") == NAME, device.get("value")
failure = suites.find(".//testcase[@name='untrue']/failure")
assert "expected" in failure.text and "cases.c:" in failure.get("message"), failure.text
