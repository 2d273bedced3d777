// usage: sum-reports.js STATUS REPORT...: prints the failed tests and the totals of Vitest's JSON reports. Exits with 1 if a test
// failed, a report is missing or STATUS, the result of the other steps, is not 0.
import { existsSync, readFileSync } from 'node:fs'
import { basename, relative } from 'node:path'

const [status, ...reports] = process.argv.slice(2)
const totals = { passed: 0, failed: 0, skipped: 0 }

/** Prints a failed test of a report, with the first lines of its message. */
function fail(report, name, message = '') {
  totals.failed++
  console.log(`FAILED ${basename(report)}: ${name}\n${shorten(message)}`)
}

function shorten(message) {
  return message.split('\n').slice(0, 12).join('\n')
}

for (const path of reports) {
  if (!existsSync(path)) {
    fail(path, 'no report')
    continue
  }
  const { numPassedTests, numFailedTests, numTotalTests, testResults } = JSON.parse(readFileSync(path, 'utf8'))
  totals.passed += numPassedTests
  totals.skipped += numTotalTests - numPassedTests - numFailedTests
  for (const file of testResults) {
    const failed = file.assertionResults.filter(result => result.status === 'failed')
    for (const { fullName, failureMessages } of failed) {
      fail(path, `${relative('', file.name)}: ${fullName}`, failureMessages[0])
    }
    // A file that cannot be loaded counts as a failed test.
    if (file.status === 'failed' && failed.length === 0) fail(path, relative('', file.name), file.message)
  }
}

const { passed, failed, skipped } = totals
process.exitCode = status === '0' && failed === 0 && passed > 0 ? 0 : 1
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
