/**
 * Every call of x64 and arm64 up to NEWEST_KNOWN that is neither denied nor inspected (../syscalls.ts). An
 * engine's profile names calls, and its library ignores names that it does not know: only a list of allowed
 * calls keeps out those newer than the library.
 */
export const ALLOWED: readonly string[] = `
  read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask
  rt_sigreturn pread64 pwrite64 readv writev access pipe select sched_yield mremap msync mincore madvise
  shmget shmat shmctl dup dup2 pause nanosleep getitimer alarm setitimer getpid sendfile connect accept
  sendto recvfrom sendmsg recvmsg shutdown bind listen getsockname getpeername setsockopt getsockopt fork
  vfork execve exit wait4 kill uname semget semop semctl shmdt msgget msgsnd msgrcv msgctl fcntl flock fsync
  fdatasync truncate ftruncate getdents getcwd chdir fchdir rename mkdir rmdir creat link unlink symlink
  readlink chmod fchmod chown fchown lchown umask gettimeofday getrlimit getrusage sysinfo times getuid
  getgid setuid setgid geteuid getegid setpgid getppid getpgrp setsid setreuid setregid getgroups setgroups
  setresuid getresuid setresgid getresgid getpgid setfsuid setfsgid getsid capget capset rt_sigpending
  rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend sigaltstack utime mknod statfs fstatfs getpriority
  setpriority sched_setparam sched_getparam sched_setscheduler sched_getscheduler sched_get_priority_max
  sched_get_priority_min sched_rr_get_interval mlock munlock mlockall munlockall prctl arch_prctl adjtimex
  setrlimit sync gettid readahead setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr
  llistxattr flistxattr removexattr lremovexattr fremovexattr tkill time futex sched_setaffinity
  sched_getaffinity set_thread_area io_setup io_destroy io_getevents io_submit io_cancel get_thread_area
  epoll_create remap_file_pages getdents64 set_tid_address restart_syscall semtimedop fadvise64 timer_create
  timer_settime timer_gettime timer_getoverrun timer_delete clock_gettime clock_getres clock_nanosleep
  exit_group epoll_wait epoll_ctl tgkill utimes mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify
  mq_getsetattr waitid ioprio_set ioprio_get inotify_init inotify_add_watch inotify_rm_watch openat mkdirat
  mknodat fchownat futimesat newfstatat unlinkat renameat linkat symlinkat readlinkat fchmodat faccessat
  pselect6 ppoll set_robust_list get_robust_list splice tee sync_file_range vmsplice utimensat epoll_pwait
  signalfd timerfd_create eventfd fallocate timerfd_settime timerfd_gettime accept4 signalfd4 eventfd2
  epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev rt_tgsigqueueinfo recvmmsg fanotify_mark prlimit64
  syncfs sendmmsg getcpu sched_setattr sched_getattr renameat2 seccomp getrandom memfd_create execveat
  membarrier mlock2 copy_file_range preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free statx io_pgetevents
  rseq pidfd_send_signal pidfd_open close_range openat2 faccessat2 epoll_pwait2 landlock_create_ruleset
  landlock_add_rule landlock_restrict_self futex_waitv cachestat fchmodat2 map_shadow_stack futex_wake
  futex_wait futex_requeue lsm_get_self_attr lsm_set_self_attr lsm_list_modules mseal
`
  .trim()
  .split(/\s+/);
