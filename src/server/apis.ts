import { GREETING_SPEC_PATH } from '../greeting-client/paths.js'
import { type ApiInfo, describeApi } from './docs/openapi.js'
import type { Endpoint } from './endpoint.js'
import { greetingEndpoints, specEndpoint } from './greeting/routes.js'
import { Body } from './http/body.js'
import { treeEndpoints } from './tree/routes.js'
import type { Tree } from './tree/tree.js'

/** An API: its endpoints and the OpenAPI document that describes them. */
export interface Api {
  readonly endpoints: readonly Endpoint[]
  readonly document: () => Body
}

/** The klines API: the same paths as the public service, for all intervals. */
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

/** The greeting API: user updates, the token stream, and its own description. */
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

/** Builds the document on first use, which is after all endpoints are known. */
function lazyDocument(info: ApiInfo, endpoints: readonly Endpoint[]): () => Body {
  let document: Body | undefined
  return () => {
    document ??= new Body(Buffer.from(JSON.stringify(describeApi(info, endpoints))))
    return document
  }
}
