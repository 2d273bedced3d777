const place = document.querySelector('#coverage')
if (place) place.textContent = ''
