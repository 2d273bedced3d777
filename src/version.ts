import { readFileSync } from 'node:fs'

/** Folder of the compiled code: `dist` of an installed package, `src` when the sources run by themselves. */
export const CODE_URL = new URL('.', import.meta.url)

/** Folder of the package, with package.json and fixtures. */
export const PACKAGE_URL = new URL('..', import.meta.url)

/** Version of this tool. */
export const VERSION: string = JSON.parse(readFileSync(new URL('package.json', PACKAGE_URL), 'utf8')).version
