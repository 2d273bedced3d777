/** The three forms of RFC 9110, 5.6.7, with the day of the month. */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2}, (\d\d) [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|[A-Z][a-z]{5,8}, (\d\d)-[A-Z][a-z]{2}-\d\d [\d:]{8} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} ([ \d]\d) [\d:]{8} \d{4})$/

/** An HTTP date in ms UTC: `Date.parse` accepts far more, such as `9999`. */
export function parseHttpDate(text = ''): number | undefined {
  const match = HTTP_DATE.exec(text)
  if (match === null) return undefined
  const time = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  // 31 November would be 1 December.
  return new Date(time).getUTCDate() === Number(match[1] ?? match[2] ?? match[3]) ? time : undefined
}
