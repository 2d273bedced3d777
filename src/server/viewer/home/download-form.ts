/** How long a button says that it has copied, ms. */
const CONFIRM_MS = 1_500

/** The formats that the page offers, by their extensions. */
const FORMATS = { csv: 'CSV', parquet: 'Parquet', json: 'JSON', jsonl: 'JSON Lines', arrow: 'Arrow' }

/** Keeps the links and commands of the download section in step with its form. */
export function startDownloads(): void {
  const form = document.querySelector<HTMLFormElement>('#download-form')
  const links = document.querySelector('#download-links')
  const commands = document.querySelector('#download-commands')
  if (!form || !links || !commands) return
  const update = () => {
    const request = readForm(form)
    links.replaceChildren(...Object.entries(FORMATS).map(([format, name]) => downloadLink(request, format, name)))
    commands.replaceChildren(...commandRow('klines', cliCommand(request)), ...commandRow('curl', curlCommand(request)))
  }
  form.addEventListener('input', update)
  form.addEventListener('submit', event => event.preventDefault())
  update()
}

/** Candles to download; `range` is a query. */
interface DownloadRequest {
  readonly symbol: string
  readonly interval: string
  readonly range: URLSearchParams
}

function readForm(form: HTMLFormElement): DownloadRequest {
  const data = new FormData(form)
  const range = new URLSearchParams()
  for (const name of ['from', 'to']) if (data.get(name)) range.set(name, String(data.get(name)))
  return { symbol: String(data.get('symbol')), interval: String(data.get('interval')), range }
}

function exportPath({ symbol, interval, range }: DownloadRequest, format: string): string {
  return `/export/${interval}/${encodeURIComponent(symbol)}.${format}${range.size > 0 ? `?${range}` : ''}`
}

function downloadLink(request: DownloadRequest, format: string, name: string): HTMLElement {
  const link = document.createElement('a')
  link.href = exportPath(request, format)
  link.className = 'button'
  link.textContent = name
  return link
}

function cliCommand({ symbol, interval, range }: DownloadRequest): string {
  const flags = [...range].map(([name, value]) => ` --${name} ${value}`).join('')
  return `klines download ${symbol} -i ${interval}${flags} --base-url ${location.origin} -o ${symbol}-${interval}.csv`
}

function curlCommand(request: DownloadRequest): string {
  const { symbol, interval } = request
  return `curl --fail -o ${symbol}-${interval}.csv '${location.origin}${exportPath(request, 'csv')}'`
}

function commandRow(name: string, command: string): HTMLElement[] {
  const term = document.createElement('dt')
  term.textContent = name
  const description = document.createElement('dd')
  const code = document.createElement('code')
  code.textContent = command
  description.append(code, copyButton(command, `Copy the ${name} command`))
  return [term, description]
}

/** A button that copies a text. Browsers offer the clipboard on loopback and https alone; elsewhere the text can be selected. */
function copyButton(text: string, label: string): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.ariaLabel = label
  button.hidden = navigator.clipboard === undefined
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, CONFIRM_MS)
  })
  return button
}
