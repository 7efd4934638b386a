"""The table of system calls: what must not be in it, on any architecture."""

from __future__ import annotations

import pytest

from poor_bench.sandbox.linux import seccomp

FORBIDDEN = """
    socket connect bind listen accept accept4 execve execveat ptrace process_vm_readv
    process_vm_writev kcmp pidfd_open pidfd_getfd pidfd_send_signal tkill rt_sigqueueinfo mount
    unshare setns chroot pivot_root chmod fchmod fchmodat chown utimensat setxattr memfd_create
    shmget msgget semget mq_open io_uring_setup bpf perf_event_open userfaultfd keyctl add_key
    setpriority sched_setaffinity open_by_handle_at inotify_add_watch fork vfork clone3
"""


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_numbers_are_distinct_and_known(machine: str) -> None:
    numbers = seccomp.list_calls_of_zygote(machine)
    assert len(numbers) == len(set(numbers)) > 100
    assert numbers == sorted(numbers)
    assert numbers[-1] <= seccomp.LAST_KNOWN


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_what_forking_takes_is_taken_from_programs(machine: str) -> None:
    all_calls = set(seccomp.list_calls_of_zygote(machine))
    only_forking = set(seccomp.list_calls_only_of_zygote(machine))
    in_part = set(seccomp.list_conditional_calls(machine).values())
    assert only_forking < all_calls
    assert in_part < all_calls
    assert not only_forking & in_part


@pytest.mark.parametrize("name", FORBIDDEN.split())
def test_dangerous_calls_are_not_for_programs(name: str) -> None:
    text = "".join(
        value
        for key, value in vars(seccomp).items()
        if key.isupper() and isinstance(value, str) and key not in {"_FORKING"}
    )
    assert f" {name}:" not in f" {' '.join(text.split())}"
