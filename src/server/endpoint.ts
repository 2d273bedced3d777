import type { TObject, TSchema } from 'typebox'
import type { Route } from './http/router.js'

/** The successful (200) response of an endpoint. */
export interface EndpointResponse {
  readonly description: string
  /** Schema of the body by media type. */
  readonly content: Readonly<Record<string, TSchema>>
  /** Whether it carries validators, so that a conditional request may get 304. */
  readonly revalidates?: boolean
}

/** An operation at a path: how it is served, and how OpenAPI describes it. */
export interface Endpoint extends Route {
  /** The path as the router gets it, where that cannot have two parameters of `path` in one segment. */
  readonly route?: string
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tag: string
  readonly params?: TObject
  readonly query?: TObject
  /** Schema of the JSON body. */
  readonly body?: TSchema
  readonly response: EndpointResponse
  /** Descriptions of the error statuses that a client may want to tell apart. */
  readonly errors?: Readonly<Record<number, string>>
  /** Whether OpenAPI describes it; default: yes. */
  readonly isDescribed?: boolean
}
