/*
 * load PORT RATE SECONDS FILE TEXT: sends the request in FILE over 64 connections; each answer must contain TEXT.
 *
 * At a RATE above 0 (requests a second) it sends whether or not those before are answered. What one took counts from the moment it
 * was due: a server that stands still delays all who come meanwhile. Says the median and the 99th percentile in milliseconds, and
 * spins, so that it is never late itself. At a RATE of 0 each connection asks again as soon as it is answered: says how many were.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { connections = 64, room = 65536 };

static char request[room];
static size_t length;
static int sockets[connections];
static double due[connections];
static size_t held[connections];
static char answers[connections][room];
static int idle[connections], idles;

static double now(void)
{
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1e3 + at.tv_nsec / 1e6;
}

static void fail(const char *why)
{
  fprintf(stderr, "load: %s\n", why);
  exit(1);
}

static int opened(int port)
{
  int one = 1, made = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (made < 0 || connect(made, (struct sockaddr *)&to, sizeof to) != 0) fail("no connection");
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return made;
}

static void ask(int which, double at)
{
  due[which] = at;
  held[which] = 0;
  if (write(sockets[which], request, length) != (ssize_t)length) fail("a request could not be sent");
}

/* Whether the answer is all there: its head, and as much content as that says. */
static int whole(int which, const char *text)
{
  char *answer = answers[which], *end, *field;
  answer[held[which]] = 0;
  if ((end = strstr(answer, "\r\n\r\n")) == NULL) return 0;
  if ((field = strcasestr(answer, "\r\ncontent-length:")) == NULL || field > end) fail("an answer without a length");
  if (held[which] < (size_t)(end + 4 - answer) + strtoul(field + 17, NULL, 10)) return 0;
  if (strstr(answer, text) == NULL) fail(answer);
  return 1;
}

static int compared(const void *one, const void *other)
{
  double difference = *(const double *)one - *(const double *)other;
  return difference < 0 ? -1 : difference > 0;
}

static int waiter;

static void connected(int port)
{
  waiter = epoll_create1(0);
  for (int i = 0; i < connections; i++) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    sockets[i] = opened(port);
    epoll_ctl(waiter, EPOLL_CTL_ADD, sockets[i], &event);
    idle[idles++] = i;
  }
}

/* Reads what has come, and hands each connection that has its answer to `answered`. */
static void look(int milliseconds, const char *text, void (*answered)(int))
{
  struct epoll_event events[connections];
  int ready = epoll_wait(waiter, events, connections, milliseconds);
  for (int i = 0; i < ready; i++) {
    int which = events[i].data.u32;
    ssize_t more = read(sockets[which], answers[which] + held[which], room - 1 - held[which]);
    if (more <= 0) fail("the connection ended");
    held[which] += more;
    if (whole(which, text)) answered(which);
  }
}

static double *took;
static long done;

static void timed(int which)
{
  took[done++] = now() - due[which];
  idle[idles++] = which;
}

static void at_a_rate(double rate, double seconds, const char *text)
{
  long all = rate * seconds, sent = 0, begun = 0;
  double began = now() + 20;
  took = malloc(all * sizeof *took);
  while (done < all) {
    /* `sent` of those that are due have a connection; the others wait for one, in the order in which they were due. */
    for (double at = now(); begun < all && began + begun * 1e3 / rate <= at; begun++);
    for (; sent < begun && idles > 0; sent++) ask(idle[--idles], began + sent * 1e3 / rate);
    look(0, text, timed);
  }
  qsort(took, all, sizeof *took, compared);
  printf("%f %f\n", took[all / 2], took[all * 99 / 100]);
}

static void again(int which)
{
  done++;
  ask(which, 0);
}

static void as_fast(double seconds, const char *text)
{
  double until = now() + seconds * 1e3;
  while (idles > 0) ask(idle[--idles], 0);
  while (now() < until) look(100, text, again);
  printf("%ld\n", done);
}

int main(int count, char **words)
{
  if (count != 6) fail("PORT RATE SECONDS FILE TEXT");
  double rate = atof(words[2]), seconds = atof(words[3]);
  FILE *file = fopen(words[4], "rb");
  if (file == NULL || (length = fread(request, 1, room, file)) == 0) fail("no request");
  connected(atoi(words[1]));
  if (rate > 0) at_a_rate(rate, seconds, words[5]);
  else as_fast(seconds, words[5]);
  return 0;
}
