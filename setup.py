"""Packs what stands beside the package into it: the built-in evaluators, and the playbooks."""

from setuptools import find_packages, setup

BESIDE = {
    "poor_bench.built_in_evaluators": "evaluators",
    "poor_bench.built_in_playbooks": "data/playbooks",
}

setup(packages=[*find_packages(include=["poor_bench*"]), *BESIDE], package_dir=BESIDE)
