// The world that tools/field runs a program in, loaded before its libraries: paths of its author's
// machine lie below a folder, files that are missing are written down, chance and the calendar
// repeat, no window opens, and SIGTERM ends the program by exit(), which writes its report.
//
//   FIELD_ROOT   where absolute paths that do not exist lie
//   FIELD_BASES  folders, ':' between them, where a relative path is looked for after the current
//   one FIELD_LOG    where missing files are written: "file PATH", "stat PATH" or "folder PATH"
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// ---- files ----

static int is_there(const char* path) { return syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0; }

static int is_systems(const char* path) {
  static const char* const heads[] = {"/proc", "/sys", "/dev", "/etc", "/usr", "/lib", "/run"};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; ++i) {
    const size_t length = strlen(heads[i]);
    if (strncmp(path, heads[i], length) == 0 && (path[length] == '/' || path[length] == 0))
      return 1;
  }
  return 0;
}

static void note(const char* kind, const char* path) {
  const char* const log = getenv("FIELD_LOG");
  if (!log) return;
  const int file = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (file < 0) return;
  char line[PATH_MAX + 16];
  const int length = snprintf(line, sizeof line, "%s %s\n", kind, path);
  if (write(file, line, (size_t)length) < 0) {
  }
  close(file);
}

static int has_folder(const char* path, char* room) {
  snprintf(room, PATH_MAX, "%s", path);
  *strrchr(room, '/') = 0;
  return is_there(*room ? room : "/");
}

static void make_parents(char* path) {
  for (char* at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
    *at = 0;
    syscall(SYS_mkdirat, AT_FDCWD, path, 0755);
    *at = '/';
  }
}

// Where a path lies for this program; room has PATH_MAX bytes.
static const char* place(const char* path, const char* kind, int is_written, char* room) {
  if (!path || !*path || is_there(path)) return path;
  const int saved = errno;
  const char* const root = getenv("FIELD_ROOT");
  const char* found = path;
  if (path[0] == '/') {
    if (!root || is_systems(path) || strncmp(path, root, strlen(root)) == 0) goto done;
    if (is_written && has_folder(path, room)) goto done;
    snprintf(room, PATH_MAX, "%s%s", root, path);
    found = room;
  } else if (!is_written) {
    const char* bases = getenv("FIELD_BASES");
    while (bases && *bases) {
      const size_t length = strcspn(bases, ":");
      snprintf(room, PATH_MAX, "%.*s/%s", (int)length, bases, path);
      if (is_there(room)) {
        found = room;
        goto done;
      }
      bases += length + (bases[length] == ':');
    }
  }
  if (is_written) {
    if (found != room) snprintf(room, PATH_MAX, "%s", path);
    found = room;
    make_parents(room);
  } else if (!is_there(found)) {
    note(kind, path);
  }
done:
  errno = saved;
  return found;
}

static const char* place_of_open(const char* path, int flags, char* room) {
  return place(path, flags & O_DIRECTORY ? "folder" : "file", (flags & O_CREAT) != 0, room);
}

#define OPEN(name)                             \
  int name(const char* path, int flags, ...) { \
    char room[PATH_MAX];                       \
    va_list rest;                              \
    va_start(rest, flags);                     \
    const int mode = va_arg(rest, int);        \
    va_end(rest);                              \
    path = place_of_open(path, flags, room);   \
    return NEXT(name)(path, flags, mode);      \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                 \
  int name(int folder, const char* path, int flags, ...) {           \
    char room[PATH_MAX];                                             \
    va_list rest;                                                    \
    va_start(rest, flags);                                           \
    const int mode = va_arg(rest, int);                              \
    va_end(rest);                                                    \
    if (folder == AT_FDCWD) path = place_of_open(path, flags, room); \
    return NEXT(name)(folder, path, flags, mode);                    \
  }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                                         \
  FILE* name(const char* path, const char* mode) {                          \
    char room[PATH_MAX];                                                    \
    return NEXT(name)(place(path, "file", !strchr(mode, 'r'), room), mode); \
  }
FOPEN(fopen)
FOPEN(fopen64)

DIR* opendir(const char* path) {
  char room[PATH_MAX];
  return NEXT(opendir)(place(path, "folder", 0, room));
}

#define STAT(name, type)                                 \
  int name(const char* path, struct type* to) {          \
    char room[PATH_MAX];                                 \
    return NEXT(name)(place(path, "stat", 0, room), to); \
  }
STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)

int access(const char* path, int mode) {
  char room[PATH_MAX];
  return NEXT(access)(place(path, "stat", 0, room), mode);
}

int mkdir(const char* path, mode_t mode) {
  char room[PATH_MAX];
  return NEXT(mkdir)(place(path, "stat", 1, room), mode);
}

// ---- chance and the calendar ----

static unsigned long long ticks() {
  static unsigned long long count;
  return __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
}

unsigned random_number(void* self) __asm__("_ZNSt13random_device9_M_getvalEv");
unsigned random_number(void* self) {
  (void)self;
  unsigned long long x = ticks() * 0x9E3779B97F4A7C15ull;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ull;
  return (unsigned)(x >> 32);
}

// A microsecond passes whenever somebody looks: seeds repeat, and who waits for a time gets there.
static const long long kStart = 1700000000;
static long long microseconds() { return kStart * 1000000 + (long long)ticks(); }

long long calendar_now(void) __asm__("_ZNSt6chrono3_V212system_clock3nowEv");
long long calendar_now(void) { return microseconds() * 1000; }

time_t time(time_t* to) {
  const time_t now = (time_t)(microseconds() / 1000000);
  if (to) *to = now;
  return now;
}

int gettimeofday(struct timeval* restrict to, void* restrict zone) {
  (void)zone;
  const long long now = microseconds();
  to->tv_sec = now / 1000000;
  to->tv_usec = now % 1000000;
  return 0;
}

// ---- windows of OpenCV: none opens, and Escape is pressed where a key is awaited ----

#define STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
void show(const void* name,
          const void* picture) __asm__("_ZN2cv6imshowERK" STRING "RKNS_11_InputArrayE");
void show(const void* name, const void* picture) { (void)name, (void)picture; }
void open_window(const void* name, int flags) __asm__("_ZN2cv11namedWindowERK" STRING "i");
void open_window(const void* name, int flags) { (void)name, (void)flags; }
void move_window(const void* name, int x, int y) __asm__("_ZN2cv10moveWindowERK" STRING "ii");
void move_window(const void* name, int x, int y) { (void)name, (void)x, (void)y; }
void size_window(const void* name, int x, int y) __asm__("_ZN2cv12resizeWindowERK" STRING "ii");
void size_window(const void* name, int x, int y) { (void)name, (void)x, (void)y; }
void close_window(const void* name) __asm__("_ZN2cv13destroyWindowERK" STRING);
void close_window(const void* name) { (void)name; }
void close_windows(void) __asm__("_ZN2cv17destroyAllWindowsEv");
void close_windows(void) {}
int wait_key(int delay) __asm__("_ZN2cv7waitKeyEi");
int wait_key(int delay) { return (void)delay, 27; }

// ---- the end ----

static void* leave(void* nothing) {
  (void)nothing;
  exit(128 + SIGTERM);
}

// On a thread of its own: the one that was interrupted may hold a lock.
static void at_limit(int signal) {
  (void)signal;
  pthread_t thread;
  pthread_create(&thread, NULL, leave, NULL);
}

__attribute__((constructor)) static void begin(void) {
  unsetenv("LD_PRELOAD");  // what the program starts is not watched
  signal(SIGTERM, at_limit);
  setvbuf(stdout, NULL, _IOLBF, 1 << 16);
}
