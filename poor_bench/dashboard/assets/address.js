// Shows the state of a page in the address bar without loading anything.
(function () {
  "use strict";
  const functions = (window.dash_clientside = window.dash_clientside || {});
  functions.address = {
    show: function (search) {
      if (typeof search === "string" && search !== window.location.search) {
        window.history.replaceState(window.history.state, "", window.location.pathname + search);
      }
      return window.dash_clientside.no_update;
    },
  };
})();
