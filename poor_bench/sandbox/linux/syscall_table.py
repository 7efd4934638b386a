"""Numbers of the system calls that ordinary Python programs make.

Source: `unistd_64.h` of x86_64 and `asm-generic/unistd.h` (arm64) of Linux. Calls that start
processes or programs, open sockets, trace or signal others, mount, change owners, rights or times
of files, or make memory that outlives its limits are missing on purpose.
"""

from __future__ import annotations

ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
"""Machine to the kernel's AUDIT_ARCH_... constant."""

LAST_KNOWN = 449
"""Calls beyond are newer than this table; programs must find them missing and do without."""
CLONE3 = 435

_ABSENT = "-"
_FILES = """
    read:0:63 write:1:64 close:3:57 fstat:5:80 lseek:8:62 pread64:17:67 pwrite64:18:68
    readv:19:65 writev:20:66 preadv:295:69 pwritev:296:70 preadv2:327:286 pwritev2:328:287
    open:2:- creat:85:- openat:257:56 stat:4:- lstat:6:- newfstatat:262:79 statx:332:291
    access:21:- faccessat:269:48 faccessat2:439:439 readlink:89:- readlinkat:267:78
    getdents:78:- getdents64:217:61 getcwd:79:17 chdir:80:49 fchdir:81:50 rename:82:-
    renameat:264:38 renameat2:316:276 mkdir:83:- mkdirat:258:34 rmdir:84:- unlink:87:-
    unlinkat:263:35 link:86:- linkat:265:37 symlink:88:- symlinkat:266:36 truncate:76:45
    ftruncate:77:46 fallocate:285:47 fadvise64:221:223 fsync:74:82 fdatasync:75:83
    sendfile:40:71 copy_file_range:326:285 dup:32:23 dup2:33:- dup3:292:24 pipe:22:-
    pipe2:293:59 poll:7:- ppoll:271:73 select:23:- pselect6:270:72 epoll_create:213:-
    epoll_create1:291:20 epoll_ctl:233:21 epoll_wait:232:- epoll_pwait:281:22
    epoll_pwait2:441:441 eventfd:284:- eventfd2:290:19 signalfd:282:- signalfd4:289:74
    flock:73:32 umask:95:166 statfs:137:43 fstatfs:138:44 close_range:436:436
"""
_MEMORY = """
    mmap:9:222 mprotect:10:226 munmap:11:215 brk:12:214 mremap:25:216 msync:26:227
    madvise:28:233 mincore:27:232 membarrier:324:283
"""
_TIME = """
    gettimeofday:96:169 time:201:- clock_gettime:228:113 clock_getres:229:114
    clock_nanosleep:230:115 nanosleep:35:101 times:100:153 getitimer:36:102 setitimer:38:103
    alarm:37:- timer_create:222:107 timer_settime:223:110 timer_gettime:224:108
    timer_getoverrun:225:109 timer_delete:226:111 timerfd_create:283:85
    timerfd_settime:286:86 timerfd_gettime:287:87 pause:34:-
"""
_SIGNALS = """
    rt_sigaction:13:134 rt_sigprocmask:14:135 rt_sigreturn:15:139 rt_sigpending:127:136
    rt_sigtimedwait:128:137 rt_sigsuspend:130:133 sigaltstack:131:132
    restart_syscall:219:128
"""
_ITSELF = """
    getpid:39:172 gettid:186:178 getppid:110:173 getuid:102:174 geteuid:107:175
    getgid:104:176 getegid:108:177 getresuid:118:148 getresgid:120:150 getgroups:115:158
    getpgid:121:155 getpgrp:111:- getsid:124:156 uname:63:160 sysinfo:99:179
    getrusage:98:165 getcpu:309:168 getrandom:318:278 getpriority:140:141 sched_yield:24:124
    sched_getaffinity:204:123 sched_getparam:143:121 sched_getscheduler:145:120
    sched_get_priority_max:146:125 sched_get_priority_min:147:126 getrlimit:97:163
    setrlimit:160:164 wait4:61:260 waitid:247:95 exit:60:93 exit_group:231:94
"""
_THREADS = """
    futex:202:98 futex_waitv:449:449 set_robust_list:273:99 get_robust_list:274:100
    rseq:334:293 set_tid_address:218:96
"""
_CONNECTED_SOCKETS = """
    recvfrom:45:207 sendmsg:46:211 recvmsg:47:212 shutdown:48:210 getsockopt:55:209
    setsockopt:54:208 getsockname:51:204 getpeername:52:205
"""
_CONDITIONAL = """
    kill:62:129 tgkill:234:131 prlimit64:302:261 clone:56:220 socketpair:53:199
    sendto:44:206 fcntl:72:25 ioctl:16:29 prctl:157:167
"""

_FORKING = """
    fork:57:- vfork:58:- setns:308:268 unshare:272:97 mount:165:40 umount2:166:39 capset:126:91
    chown:92:- fchownat:260:54 setresuid:117:147 setsid:112:157 landlock_create_ruleset:444:444
    landlock_add_rule:445:445 landlock_restrict_self:446:446
"""


def calls_of_forking_process(machine: str) -> list[int]:
    """Return the numbers of calls that a process may make that forks programs, in order."""
    of_programs = (_FILES, _MEMORY, _TIME, _SIGNALS, _ITSELF, _THREADS, _CONNECTED_SOCKETS)
    tables = (*of_programs, _CONDITIONAL, _FORKING)
    return sorted(number for table in tables for number in _numbers(table, machine).values())


def calls_only_of_forking_process(machine: str) -> list[int]:
    """Return the numbers of those among them that programs may not make."""
    return list(_numbers(_FORKING, machine).values())


def conditional_calls(machine: str) -> dict[str, int]:
    """Return the numbers of calls that programs may make with some arguments, by name."""
    return _numbers(_CONDITIONAL, machine)


def _numbers(table: str, machine: str) -> dict[str, int]:
    column = list(ARCHITECTURES).index(machine) + 1
    entries = (entry.split(":") for entry in table.split())
    return {entry[0]: int(entry[column]) for entry in entries if entry[column] != _ABSENT}
