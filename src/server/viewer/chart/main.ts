import { createChart } from '/viewer/lightweight-charts.js'

const place = document.querySelector<HTMLElement>('#chart')
if (place) createChart(place, { autoSize: true, layout: { attributionLogo: false } })
