"""Packs the built-in evaluators, which stand beside the package, into it."""

from setuptools import find_packages, setup

INSTALLED_EVALUATORS = "poor_bench.built_in_evaluators"

setup(
    packages=[*find_packages(include=["poor_bench*"]), INSTALLED_EVALUATORS],
    package_dir={INSTALLED_EVALUATORS: "evaluators"},
)
