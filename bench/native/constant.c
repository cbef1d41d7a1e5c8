/*
 * constant PORT MICROSECONDS TEXT: answers whatever arrives with TEXT, after so many microseconds of work. It has no collector, no
 * compiler and one thread: what its slowest answers wait for is the machine.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { most = 256, room = 65536 };

static double now(void)
{
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1e6 + at.tv_nsec / 1e3;
}

static void watch(int waiter, int socket)
{
  struct epoll_event event = {.events = EPOLLIN, .data.fd = socket};
  epoll_ctl(waiter, EPOLL_CTL_ADD, socket, &event);
}

static void answer(int client, double work, const char *text, size_t length)
{
  static char request[room];
  if (read(client, request, room) <= 0) {
    close(client);
    return;
  }
  for (double until = now() + work; now() < until;);
  if (write(client, text, length) != (ssize_t)length) close(client);
}

int main(int count, char **words)
{
  int one = 1, waiter = epoll_create1(0), door = socket(AF_INET, SOCK_STREAM, 0);
  if (count != 4) return 2;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  char text[1024];
  int length = snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(words[3]), words[3]);
  setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(door, (struct sockaddr *)&at, sizeof at) != 0 || listen(door, most) != 0) return 1;
  watch(waiter, door);
  for (struct epoll_event events[most];;) {
    int ready = epoll_wait(waiter, events, most, -1);
    for (int i = 0; i < ready; i++) {
      if (events[i].data.fd != door) answer(events[i].data.fd, atof(words[2]), text, length);
      else {
        int client = accept(door, NULL, NULL);
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        watch(waiter, client);
      }
    }
  }
}
