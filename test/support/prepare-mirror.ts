import { isKlinesError } from '../../src/candles/errors.js'
import { Mirror } from '../../src/mirror/mirror.js'

/** Creates a mirror in a folder, stores a file and prints the error, if any, as JSON. */
const [root] = process.argv.slice(2)
try {
  const mirror = new Mirror(root)
  mirror.storeList('api/klines/symbols.json', Buffer.from('[]'), Date.now(), 'http://example.com')
  console.log(JSON.stringify({ code: 'none' }))
} catch (error) {
  if (!isKlinesError(error)) throw error
  const { code, message, suggestions } = error
  console.log(JSON.stringify({ code, message, suggestions }))
}
