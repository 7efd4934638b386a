// Saves the chart of a card as a picture: in the light colours that it is drawn in, on white.
(function () {
  "use strict";
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-export]");
    const chart = button && button.closest(".card").querySelector(".js-plotly-plot");
    if (chart && window.Plotly) {
      window.Plotly.downloadImage(chart, {
        format: button.getAttribute("data-export"),
        filename: button.getAttribute("data-file-name"),
        width: Math.max(chart.clientWidth, 800),
        height: chart.clientHeight,
        scale: 2,
        setBackground: "white",
      });
    }
  });
})();
