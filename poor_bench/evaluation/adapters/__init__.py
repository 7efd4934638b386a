"""Agents of other projects behind `poor_bench.evaluation.agent.AgentUnderTest`."""
