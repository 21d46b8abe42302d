"""What the page says of a machine: machine_test.py TOOLS_FOLDER."""
import sys
import unittest
from unittest import mock

sys.path.insert(0, sys.argv.pop(1))
import machine  # noqa: E402


def engine(name, used=True):
    return {"name": name, "state": "found", "library": f"/somewhere/{name}.so", "version": "40.30", "used": used,
            "module": f"/home/somebody/{name}.so", "package": f"lib{name}-dev"}


FOUND = {"cpu": "Some CPU", "cores": 2, "target": "AVX2", "compiler": "g++", "commit": "a1", "system": "Debian",
         "engines": [engine("gloo"), engine("mpi"), engine("other", used=False)]}


class Machine(unittest.TestCase):
    def test_has_the_versions_of_the_packages_that_are_used(self):
        packages = {"libgloo-dev": "0.5-1", "libmpi-dev": None}
        with mock.patch.object(machine, "package_version", packages.get):
            self.assertEqual(machine.machine(FOUND)["engines"], {"gloo": "0.5-1", "mpi": "library 40.30"})

    def test_names_no_path(self):
        self.assertNotIn("/", str(machine.machine(FOUND)))

    def test_a_package_that_is_not_there_has_no_version(self):
        self.assertIsNone(machine.package_version("narrowcast-is-no-such-package"))


if __name__ == "__main__":
    unittest.main()
