/** The one form of every error answer (service.md, "Errors"). */
export interface ErrorObject {
  readonly statusCode: number
  readonly message: string
  readonly isError: true
}

export function errorObject(statusCode: number, message: string): ErrorObject {
  return { statusCode, message, isError: true }
}
