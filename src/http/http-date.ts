const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const MONTH = `(?<month>${MONTHS.join('|')})`
const DAY_NAME = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const LONG_DAY_NAME = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day'
const TIME = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)'

/** The three formats of RFC 9110, 5.6.7: IMF-fixdate, RFC 850, asctime. */
const FORMATS = [
  `${DAY_NAME}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT`,
  `${LONG_DAY_NAME}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT`,
  `${DAY_NAME} ${MONTH} (?<day>\\d\\d| \\d) ${TIME} (?<year>\\d{4})`,
].map(format => new RegExp(`^${format}$`))

/**
 * Parses an HTTP date: ms UTC, or undefined for any other text. `Date.parse` accepts far more, such as `9999`. `now` (ms UTC)
 * tells the century of a year of two digits.
 */
export function parseHttpDate(text: string | undefined, now = Date.now()): number | undefined {
  if (text === undefined) return undefined
  for (const format of FORMATS) {
    const groups = format.exec(text)?.groups
    if (groups) return toTime(groups, now)
  }
  return undefined
}

function toTime({ month, ...digits }: Record<string, string>, now: number): number | undefined {
  const [day, hour, minute, second] = [digits.day, digits.hour, digits.minute, digits.second].map(Number)
  const year = digits.year.length === 4 ? Number(digits.year) : toFullYear(Number(digits.year), now)
  const date = new Date(Date.UTC(year, MONTHS.indexOf(month), day, hour, minute, second))
  // Date.UTC takes a year below 100 for one of the 20th century.
  date.setUTCFullYear(year)
  // 60 is a leap second. Other values out of range would move the date on.
  const isValid = date.getUTCDate() === day && hour < 24 && minute < 60 && second <= 60
  return isValid ? date.getTime() : undefined
}

/** RFC 9110, 5.6.7: a year that seems to be more than 50 years in the future is the last one with those digits. */
function toFullYear(year: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear()
  const full = thisYear - (thisYear % 100) + year
  return full > thisYear + 50 ? full - 100 : full
}
