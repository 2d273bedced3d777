import type { FastifyReply, FastifyRequest } from 'fastify'

/** A path and what answers its requests. */
export interface Route {
  /** A route of GET answers HEAD too. */
  readonly method: 'GET' | 'POST'
  /** As Fastify has it: `/api/users/:id`. */
  readonly url: string
  /** Whether pages of other sites may not read its responses. */
  readonly isPrivate?: boolean | undefined
  /** Sends the response. What it throws is sent as an error, and ends the connection once the head was sent. */
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => void | Promise<void>
}
