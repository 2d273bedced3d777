import { type ApiInfo, describeApi } from './docs/openapi.js'
import type { Endpoint } from './endpoint.js'
import { greetingEndpoints, specEndpoint } from './greeting/routes.js'
import { Body } from './http/body.js'
import { treeEndpoints } from './tree/routes.js'
import type { Tree } from './tree/tree.js'

/** Where each API's description is served. */
export const KLINES_SPEC_PATH = '/api/openapi.json'
export const GREETING_SPEC_PATH = '/api/static/openapi.json'

/** An API: what it serves, and the OpenAPI document that says so. */
export interface Api {
  readonly endpoints: readonly Endpoint[]
  readonly document: () => Body
}

/** The klines API (service.md, endpoints 1 to 7, for all intervals). */
export function klinesApi(tree: Tree): Api {
  const endpoints = treeEndpoints(tree)
  const info = {
    title: 'klines API',
    version: '0.1.8',
    description:
      'Historical spot candles as static JSON files, one a calendar window: the list of symbols, the list of start dates ' +
      'of each interval, and a file for every interval, symbol and start date. All times are UTC. HEAD, conditional ' +
      'requests, one byte range, gzip and br are answered everywhere.',
    tags: { meta: 'What there is: symbols and start dates', klines: 'Candles, one file a window' },
  }
  return { endpoints, document: lazyDocument(info, endpoints) }
}

/** The greeting API (service.md, endpoints 8 to 10). */
export function greetingApi(strict: boolean): Api {
  const info = {
    title: 'Greeting API',
    version: '0.0.88',
    description: 'Update a user, stream tokens, and this description.',
    tags: { UserRPC: 'Users', StreamRPC: 'Streams', OpenApiRPC: 'This description' },
  }
  const endpoints = greetingEndpoints(strict)
  const document = lazyDocument(info, endpoints)
  endpoints.push(specEndpoint(GREETING_SPEC_PATH, 'getSpec', 'OpenApiRPC', document))
  return { endpoints, document }
}

/** Made when it is first asked for. */
function lazyDocument(info: ApiInfo, endpoints: readonly Endpoint[]): () => Body {
  let made: Body | undefined
  return () => {
    made ??= new Body(Buffer.from(JSON.stringify(describeApi(info, endpoints))))
    return made
  }
}
