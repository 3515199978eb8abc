"""Runs test modules and writes the outcome of every test to a file, as JSON.

    unittest_outcomes.py FILE MODULE...
"""

import io
import json
import sys
import unittest
from unittest import TestResult


class Outcomes(TestResult):
    """The outcome of each test, by its id; subtests count for their test."""

    def __init__(self):
        super().__init__(io.StringIO(), False, 0)
        self.by_test = {}

    def _note(self, test, outcome, detail=""):
        while hasattr(test, "test_case"):
            test = test.test_case
        if self.by_test.get(test.id(), ["passed"])[0] in ("passed", "skipped"):
            self.by_test[test.id()] = [outcome, detail]

    def addSuccess(self, test):
        self._note(test, "passed")

    def addError(self, test, err):
        self._note(test, "error", self._exc_info_to_string(err, test))

    def addFailure(self, test, err):
        self._note(test, "failed", self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        self._note(test, "skipped", reason)

    def addExpectedFailure(self, test, err):
        self._note(test, "expected failure")

    def addUnexpectedSuccess(self, test):
        self._note(test, "unexpected success")

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self._note(test, "failed", self._exc_info_to_string(err, test))


def main(report, names):
    outcomes = Outcomes()
    for name in names:
        try:
            suite = unittest.defaultTestLoader.loadTestsFromName(name)
        except unittest.SkipTest as skipped:
            outcomes.by_test[name] = ["skipped", str(skipped)]
            continue
        suite.run(outcomes)
    with open(report, "w", encoding="utf-8") as file:
        json.dump(outcomes.by_test, file)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
