import { existsSync } from 'node:fs'

/** Version of this tool, as package.json has it. Here it is a part of every bundle. */
export const VERSION = '0.1.0'

/**
 * A file or folder of the package, by its path from the compiled code: `dist` of an installed package, `src` when the sources run by
 * themselves. Throws where another project's bundle has the code without the files.
 */
export function ownFile(path: string): URL {
  // Bundlers would copy what they find in `new URL`. In a bundle of CommonJS it is undefined.
  const code: string | undefined = import.meta.url
  const file = code && new URL(path, code)
  if (file && existsSync(file)) return file
  throw new Error(
    `${path} is not beside the code of klines, as in a bundle. Threads, pages and the sample need it: set external: ['klines'] in your bundler.`,
  )
}
