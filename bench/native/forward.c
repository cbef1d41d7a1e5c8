/*
 * forward PORT BEHIND MICROSECONDS: passes requests on to the port BEHIND and responses back, each client over a connection of its
 * own, with half of the work on either way. It has no collector, no compiler and one thread: what its slowest answers wait for is
 * the machine.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { most = 256, room = 65536, sockets = 4096 };

/* The other end of each connection; 0: none. */
static int peers[sockets];

/* Of this thread alone: time that the host takes away is no work. */
static double worked(void)
{
  struct timespec at;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return at.tv_sec * 1e6 + at.tv_nsec / 1e3;
}

static void watch(int waiter, int socket)
{
  int one = 1;
  struct epoll_event event = {.events = EPOLLIN, .data.fd = socket};
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  epoll_ctl(waiter, EPOLL_CTL_ADD, socket, &event);
}

static struct sockaddr_in place(const char *port)
{
  return (struct sockaddr_in){
    .sin_family = AF_INET, .sin_port = htons(atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void join(int waiter, int client, struct sockaddr_in *behind)
{
  int other = socket(AF_INET, SOCK_STREAM, 0);
  if (client >= sockets || other >= sockets || connect(other, (struct sockaddr *)behind, sizeof *behind) != 0) exit(1);
  peers[client] = other;
  peers[other] = client;
  watch(waiter, client);
  watch(waiter, other);
}

static void part(int from)
{
  int to = peers[from];
  peers[from] = peers[to] = 0;
  close(from);
  close(to);
}

static void pass(int from, double work)
{
  static char message[room];
  double until = worked() + work;
  if (peers[from] == 0) return; /* parted in this turn */
  ssize_t length = read(from, message, room);
  if (length <= 0) {
    part(from);
    return;
  }
  while (worked() < until);
  if (write(peers[from], message, length) != length) part(from);
}

int main(int count, char **words)
{
  int one = 1, waiter = epoll_create1(0), door = socket(AF_INET, SOCK_STREAM, 0);
  if (count != 4) return 2;
  struct sockaddr_in at = place(words[1]), behind = place(words[2]);
  setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(door, (struct sockaddr *)&at, sizeof at) != 0 || listen(door, most) != 0) return 1;
  watch(waiter, door);
  for (struct epoll_event events[most];;) {
    int ready = epoll_wait(waiter, events, most, -1);
    for (int i = 0; i < ready; i++) {
      if (events[i].data.fd == door) join(waiter, accept(door, NULL, NULL), &behind);
      else pass(events[i].data.fd, atof(words[3]) / 2);
    }
  }
}
