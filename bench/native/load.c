/*
 * load PORT RATE SECONDS FILE TEXT [shared]: sends the request in FILE over 64 connections; each answer must contain TEXT.
 * A run of # in both is a number, another one for each request, in as many digits; a run of ~ is one drawn at random that has as
 * many digits and does not begin with 0.
 *
 * At a RATE above 0 (requests a second) it sends whether or not those before are answered. What one took counts from the moment it
 * was due: a server that stands still delays all who come meanwhile. Says the median and the 99th percentile in milliseconds, and
 * spins, so that it is never late itself; `shared` lets others have its core between two requests. At a RATE of 0 each connection asks again as soon as it is answered: says how many were.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { connections = 64, room = 65536 };
/* Seconds of requests that are not counted: a server takes as many connections at once before them, and opens its own. */
static const double lead_in = 0.5;

static char request[room], sent_last[room];
static size_t length;
static const char *expected_text;
static char expected[connections][256];
static unsigned long turn, drawn = 88172645463325252;
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

/* Xorshift: every number but 0, in an order of its own. */
static void draw(void)
{
  drawn ^= drawn << 13;
  drawn ^= drawn >> 7;
  drawn ^= drawn << 17;
}

/* `from` with a number in place of each run of # or ~, from the last digit on. */
static void numbered(char *to, const char *from, size_t count, unsigned long number)
{
  unsigned long left = number, left_drawn = drawn;
  for (size_t i = count; i-- > 0;) {
    int is_first = i == 0 || from[i - 1] != '~';
    to[i] = from[i] == '#' ? '0' + left % 10 : from[i] != '~' ? from[i] : is_first ? '1' + left_drawn % 9 : '0' + left_drawn % 10;
    left = from[i] == '#' ? left / 10 : number;
    left_drawn = from[i] == '~' ? left_drawn / 10 : drawn;
  }
}

static void ask(int which, double at)
{
  due[which] = at;
  held[which] = 0;
  draw();
  numbered(sent_last, request, length, ++turn);
  numbered(expected[which], expected_text, strlen(expected_text) + 1, turn);
  if (write(sockets[which], sent_last, length) != (ssize_t)length) fail("a request could not be sent");
}

/* Whether the answer is all there: its head, and as much content as that says. */
static int whole(int which)
{
  char *answer = answers[which], *end, *field;
  answer[held[which]] = 0;
  if ((end = strstr(answer, "\r\n\r\n")) == NULL) return 0;
  if ((field = strcasestr(answer, "\r\ncontent-length:")) == NULL || field > end) fail("an answer without a length");
  if (held[which] < (size_t)(end + 4 - answer) + strtoul(field + 17, NULL, 10)) return 0;
  if (strstr(answer, expected[which]) == NULL) fail(answer);
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
static void look(double milliseconds, void (*answered)(int))
{
  struct epoll_event events[connections];
  struct timespec most = {.tv_sec = milliseconds / 1e3, .tv_nsec = (long)(milliseconds * 1e6) % 1000000000};
  int ready = epoll_pwait2(waiter, events, connections, &most, NULL);
  for (int i = 0; i < ready; i++) {
    int which = events[i].data.u32;
    ssize_t more = read(sockets[which], answers[which] + held[which], room - 1 - held[which]);
    if (more <= 0) fail("the connection ended");
    held[which] += more;
    if (whole(which)) answered(which);
  }
}

static double *took, counted_from;
static long done, counted;

static void timed(int which)
{
  done++;
  if (due[which] >= counted_from) took[counted++] = now() - due[which];
  idle[idles++] = which;
}

static void at_a_rate(double rate, double seconds, int is_shared)
{
  long all = rate * (seconds + lead_in), sent = 0, begun = 0;
  double began = now() + 20;
  counted_from = began + lead_in * 1e3;
  took = malloc(all * sizeof *took);
  while (done < all) {
    /* `sent` of those that are due have a connection; the others wait for one, in the order in which they were due. */
    for (double at = now(); begun < all && began + begun * 1e3 / rate <= at; begun++);
    for (; sent < begun && idles > 0; sent++) ask(idle[--idles], began + sent * 1e3 / rate);
    /* Until an answer comes, or the next one is due that has a connection. */
    double next = idles > 0 && begun < all ? began + begun * 1e3 / rate - now() : 100;
    look(!is_shared || next < 0 ? 0 : next, timed);
  }
  qsort(took, counted, sizeof *took, compared);
  printf("%f %f\n", took[counted / 2], took[counted * 99 / 100]);
}

static void again(int which)
{
  done++;
  ask(which, 0);
}

static void as_fast(double seconds)
{
  double until = now() + seconds * 1e3;
  while (idles > 0) ask(idle[--idles], 0);
  while (now() < until) look(100, again);
  printf("%ld\n", done);
}

int main(int count, char **words)
{
  if (count != 6 && count != 7) fail("PORT RATE SECONDS FILE TEXT [shared]");
  double rate = atof(words[2]), seconds = atof(words[3]);
  FILE *file = fopen(words[4], "rb");
  if (file == NULL || (length = fread(request, 1, room, file)) == 0) fail("no request");
  expected_text = words[5];
  if (strlen(expected_text) >= sizeof expected[0]) fail("too long a TEXT");
  turn = (unsigned long)now() * 1000; /* numbers of another run are others */
  drawn ^= turn;
  prctl(PR_SET_TIMERSLACK, 1);
  connected(atoi(words[1]));
  if (rate > 0) at_a_rate(rate, seconds, count == 7);
  else as_fast(seconds);
  return 0;
}
