/**
 * The only script of pages. They work without it; with it, a list grows in place, identifiers for a
 * reference are suggested, and a running job is refreshed.
 */
export const pageScript = `'use strict'
{
  const readData = (at, name) => at.getAttribute('data-' + name)

  // A button that sends a form back to be shown again: the answer takes the place of the form.
  addEventListener('click', async event => {
    const button = event.target.closest?.('button[data-redraw]')
    if (!button || event.defaultPrevented) return
    event.preventDefault()
    const form = button.form
    const content = new URLSearchParams(new FormData(form))
    const label = button.textContent
    try {
      const answer = await fetch(button.formAction, { method: 'POST', body: content, headers: { accept: 'text/html' } })
      if (!answer.ok) throw new Error(String(answer.status))
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const next = page.getElementById(form.id)
      if (!next) throw new Error('no form')
      form.replaceWith(next)
      prepare(next)
      const added = [...next.querySelectorAll('button[data-redraw]')].find(each => each.textContent === label)
      const fields = added && readData(button, 'redraw') === 'add' ? added.parentElement.querySelectorAll('.rows > li:last-child input, .rows > li:last-child select, .rows > li:last-child textarea') : []
      ;(fields[0] ?? added ?? next.querySelector('button'))?.focus()
    } catch (_failed) {
      form.noValidate = true
      form.action = button.formAction
      form.submit()
    }
  })

  // An empty field is not a filter.
  addEventListener('submit', event => {
    const form = event.target
    if (form.method !== 'get') return
    for (const each of form.elements) if (each.name && each.value === '') each.disabled = true
  })
  addEventListener('pageshow', () => {
    for (const each of document.querySelectorAll('form[method=get] :disabled')) each.disabled = false
  })

  const lists = new Map()
  const loadChoices = address => {
    if (lists.has(address)) return lists.get(address)
    const id = 'choices-' + lists.size
    const loading = fetch(address + '?size=100', { headers: { accept: 'application/json' } })
      .then(answer => (answer.ok ? answer.json() : {}))
      .then(page => {
        const items = Object.values(page).find(Array.isArray) ?? []
        const list = document.createElement('datalist')
        list.id = id
        for (const item of items) {
          const option = document.createElement('option')
          option.value = item.id
          option.label = String(item.name ?? item.title ?? '')
          list.append(option)
        }
        document.body.append(list)
        return id
      })
      .catch(() => undefined)
    lists.set(address, loading)
    return loading
  }

  function prepare(within) {
    for (const input of within.querySelectorAll('input[data-choices]'))
      input.addEventListener('focus', async () => {
        const id = await loadChoices(readData(input, 'choices'))
        if (id) input.setAttribute('list', id)
      }, { once: true })
  }
  prepare(document)

  // A form is sent once, however often its button is pressed.
  addEventListener('submit', event => {
    if (event.target.method !== 'post') return
    const button = event.submitter
    if (button) setTimeout(() => (button.disabled = true))
  })
  addEventListener('pageshow', () => {
    for (const each of document.querySelectorAll('button:disabled')) each.disabled = false
  })

  const watched = document.querySelector('[data-refresh]')
  if (watched) setTimeout(() => location.reload(), Number(readData(watched, 'refresh')) * 1000)
}
`
