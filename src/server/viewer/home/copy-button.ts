/** How long the button says that it has copied, ms. */
const CONFIRM_MS = 1_500

/** A button that copies a text. Browsers offer the clipboard on loopback and https alone; elsewhere the text can be selected. */
export function copyButton(text: string, label: string): HTMLButtonElement {
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
