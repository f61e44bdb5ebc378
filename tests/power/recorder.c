/* Records what a process does to the files of one folder: LD_PRELOAD this with MOOT_POWER_FOLDER and MOOT_POWER_TRACE.

   A record is a header of six little-endian numbers (operation, length of the path, offset, size, and two that are 0),
   the path and the data. `w` is a write, `t` a truncation to `offset`, `s` a sync, `u` the removal of a file. The order
   of the records is the order of the calls. Memory maps are not seen: SQLite maps only the -shm file, which it rebuilds.

   cc -shared -fPIC -O1 -o recorder.so recorder.c -ldl */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int trace = -1;
static const char *folder;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("MOOT_POWER_TRACE");
  folder = getenv("MOOT_POWER_FOLDER");
  if (path && folder) trace = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void put(const void *data, size_t size) {
  const char *rest = data;
  while (size > 0) {
    ssize_t done = syscall(SYS_write, trace, rest, size);
    if (done <= 0) _exit(99);
    rest += done;
    size -= done;
  }
}

static void record(char operation, const char *path, uint64_t offset, const void *data, size_t size) {
  uint32_t header[6] = {operation, strlen(path), (uint32_t)offset, (uint32_t)size, 0, 0};
  put(header, sizeof header);
  put(path, header[1]);
  if (data) put(data, size);
}

/* The path of a descriptor, if it is a file of the folder. */
static int find(int fd, char *path) {
  char link[64];
  if (trace < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, PATH_MAX - 1);
  if (size <= 0) return 0;
  path[size] = 0;
  return strncmp(path, folder, strlen(folder)) == 0;
}

static ssize_t put_at(int fd, const void *data, size_t size, off_t offset, int is_at) {
  char path[PATH_MAX];
  if (!find(fd, path)) return is_at ? syscall(SYS_pwrite64, fd, data, size, offset) : syscall(SYS_write, fd, data, size);
  pthread_mutex_lock(&lock);
  if (!is_at) offset = fcntl(fd, F_GETFL) & O_APPEND ? lseek(fd, 0, SEEK_END) : lseek(fd, 0, SEEK_CUR);
  ssize_t done = is_at ? syscall(SYS_pwrite64, fd, data, size, offset) : syscall(SYS_write, fd, data, size);
  if (done > 0) record('w', path, offset, data, done);
  pthread_mutex_unlock(&lock);
  return done;
}

ssize_t write(int fd, const void *data, size_t size) { return put_at(fd, data, size, 0, 0); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) { return put_at(fd, data, size, offset, 1); }
ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset) { return put_at(fd, data, size, offset, 1); }

static int sync_of(int fd, long call) {
  char path[PATH_MAX];
  int is_ours = find(fd, path);
  int failed = syscall(call, fd);
  if (is_ours && !failed) {
    pthread_mutex_lock(&lock);
    record('s', path, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
  }
  return failed;
}

int fsync(int fd) { return sync_of(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_of(fd, SYS_fdatasync); }

int ftruncate(int fd, off_t size) {
  char path[PATH_MAX];
  int is_ours = find(fd, path);
  pthread_mutex_lock(&lock);
  int failed = syscall(SYS_ftruncate, fd, size);
  if (is_ours && !failed) record('t', path, size, NULL, 0);
  pthread_mutex_unlock(&lock);
  return failed;
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

int unlink(const char *path) {
  pthread_mutex_lock(&lock);
  int failed = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  if (!failed && trace >= 0 && strncmp(path, folder, strlen(folder)) == 0) record('u', path, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  return failed;
}
