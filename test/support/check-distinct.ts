import { checkDistinct } from '../../src/export/output/same-file.js'
import { isKlinesError } from '../../src/klines/errors.js'

/** Checks that the named targets are different files; prints the code of the error, or `none`. */
try {
  await checkDistinct(process.argv.slice(2))
  console.log('none')
} catch (error) {
  if (!isKlinesError(error)) throw error
  console.log(error.code)
}
