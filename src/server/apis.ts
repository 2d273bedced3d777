import type { Warn } from '../download/sources/window-source.js'
import { EXPORT_SPEC_PATH, GREETING_SPEC_PATH, KLINES_SPEC_PATH } from '../greeting-client/paths.js'
import { type ApiInfo, describeApi, specEndpoint } from './docs/openapi.js'
import type { Endpoint } from './endpoint.js'
import { exportEndpoints } from './export/routes.js'
import { type GreetingSettings, greetingEndpoints } from './greeting/routes.js'
import { Body } from './http/body.js'
import type { Limits } from './http/limits.js'
import { treeEndpoints } from './tree/routes.js'
import type { Tree } from './tree/tree.js'

/** The klines API: the same paths as the public service, for all intervals, and its own description. */
export function klinesApi(tree: Tree): Endpoint[] {
  const info = {
    title: 'klines API',
    version: '0.1.8',
    description:
      'Historical spot candles as static JSON files, one a calendar window: the list of symbols, the list of start dates ' +
      'of each interval, and a file for every interval, symbol and start date. All times are UTC. HEAD, conditional ' +
      'requests, one byte range, gzip and br are answered everywhere.',
    tags: { meta: 'What there is: symbols, start dates and this description', klines: 'Candles, one file a window' },
  }
  return describedApi(info, treeEndpoints(tree), KLINES_SPEC_PATH, 'meta')
}

/** Exports of the tree, and their own description. `warn` receives warnings for the operator. */
export function exportApi(tree: Tree, limits: Limits, warn?: Warn): Endpoint[] {
  const info = {
    title: 'klines export API',
    version: '1.0.0',
    description:
      'The candles of a series as one file: CSV, JSON, JSON Lines, Parquet, Arrow or a picture (SVG), with the range, columns ' +
      'and interval that the query names. All times are UTC.',
    tags: { export: 'Files of candles', meta: 'This description' },
  }
  return describedApi(info, exportEndpoints(tree, limits, warn), EXPORT_SPEC_PATH, 'meta')
}

/** The greeting API: user updates, the token stream, and its own description. Throws `bad_option`, as `greetingEndpoints`. */
export function greetingApi(settings: GreetingSettings, limits: Limits): Endpoint[] {
  const info = {
    // The title of the public instance.
    title: '"Hello World" app API',
    version: '1.0.0',
    description: 'Update a user, stream tokens, and this description.',
    tags: { UserRPC: 'Users', StreamRPC: 'Streams', OpenApiRPC: 'This description' },
  }
  return describedApi(info, greetingEndpoints(settings, limits), GREETING_SPEC_PATH, 'OpenApiRPC')
}

/** Adds the endpoint of the OpenAPI document that describes all of them, itself too. */
function describedApi(info: ApiInfo, endpoints: readonly Endpoint[], path: string, tag: string): Endpoint[] {
  const described = endpoints.filter(({ isDescribed = true }) => isDescribed)
  let latest: { baseUrl: string; body: Body } | undefined
  const document = (baseUrl: string) => {
    // Most clients send the same Host again.
    if (latest?.baseUrl !== baseUrl) {
      latest = { baseUrl, body: new Body(Buffer.from(JSON.stringify(describeApi(info, described, baseUrl)))) }
    }
    return latest.body
  }
  const spec = specEndpoint(path, tag, document)
  described.push(spec)
  return [...endpoints, spec]
}
