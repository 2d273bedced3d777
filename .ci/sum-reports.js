// usage: sum-reports.js STATUS REPORT...: prints the totals of Vitest's JSON reports. Exits with 1 if a test failed, a report is
// missing or STATUS, the result of the other steps, is not 0.
import { existsSync, readFileSync } from 'node:fs'

const [status, ...reports] = process.argv.slice(2)
const totals = { passed: 0, failed: 0, skipped: 0 }

// A file that cannot be loaded counts as a failed test.
const isBroken = file => file.status === 'failed' && !file.assertionResults.some(result => result.status === 'failed')

for (const path of reports) {
  if (!existsSync(path)) {
    console.log(`no report: ${path}`)
    totals.failed++
    continue
  }
  const { numPassedTests, numFailedTests, numTotalTests, testResults } = JSON.parse(readFileSync(path, 'utf8'))
  totals.passed += numPassedTests
  totals.failed += numFailedTests + testResults.filter(isBroken).length
  totals.skipped += numTotalTests - numPassedTests - numFailedTests
}

const { passed, failed, skipped } = totals
process.exitCode = status === '0' && failed === 0 && passed > 0 ? 0 : 1
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
