import Type from 'typebox'
import type { Endpoint } from '../endpoint.js'
import { requestBaseUrl } from '../http/base-address.js'
import type { Body } from '../http/body.js'
import { sendBody } from '../http/send-body.js'

/**
 * The endpoint of an OpenAPI document. `path` is relative to the base address; `document` returns the document for the base
 * address that a request was sent to.
 */
export function specEndpoint(path: string, tag: string, document: (baseUrl: string) => Body): Endpoint {
  return {
    method: 'GET',
    path: `/${path}`,
    operationId: 'getSpec',
    summary: 'The OpenAPI description of this API',
    tag,
    response: { description: 'OpenAPI 3.1', content: { 'application/json': Type.Object({}) }, revalidates: true },
    handler: (request, reply) =>
      sendBody(request, reply, document(requestBaseUrl(request.raw)), { vary: 'accept-encoding, host' }),
  }
}
