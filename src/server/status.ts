/** RFC 9110 §15, RFC 6585: the titles of the statuses that the server itself answers, before or in place of a face. */
export const STATUS_TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  505: 'HTTP Version Not Supported',
}
