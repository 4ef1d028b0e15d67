// The eye: it turns about a point, comes closer, moves aside. Mouse, touch and keyboard.

const ANGLE = 0.6; // rad, of view

const makeCamera = (canvas, home, changed) => {
  const camera = { ...home, target: [...home.target] };
  const looks = () => {
    const { azimuth: a, elevation: e } = camera;
    return [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
  };
  const rotate = (right, up) => {
    camera.azimuth -= right;
    camera.elevation = Math.min(1.55, Math.max(-1.55, camera.elevation + up));
    changed();
  };
  const move = (right, up) => {
    const z = looks(), x = unit(cross([0, 0, 1], z)), y = cross(z, x);
    const pixel = 2 * camera.distance * Math.tan(ANGLE / 2) / canvas.clientHeight;
    camera.target = add(camera.target, add(times(-right * pixel, x), times(up * pixel, y)));
    changed();
  };
  const zoom = (factor) => {
    camera.distance = Math.min(50 * home.distance, Math.max(0.01 * home.distance, camera.distance * factor));
    changed();
  };
  const reset = () => {
    Object.assign(camera, home, { target: [...home.target] });
    changed();
  };

  const fingers = new Map();
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, wide: Math.hypot(a.x - b.x, a.y - b.y) };
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("turning");
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY, aside: event.button > 0 || event.shiftKey });
  });
  canvas.addEventListener("pointermove", (event) => {
    const finger = fingers.get(event.pointerId);
    if (!finger) return;
    const before = fingers.size === 2 ? spread() : { x: finger.x, y: finger.y };
    Object.assign(finger, { x: event.clientX, y: event.clientY });
    const now = fingers.size === 2 ? spread() : finger;
    if (fingers.size === 2 && now.wide > 0) zoom(before.wide / now.wide);
    if (fingers.size === 2 || finger.aside) move(now.x - before.x, now.y - before.y);
    else rotate((now.x - before.x) * 0.008, (now.y - before.y) * 0.008);
  });
  for (const end of ["pointerup", "pointercancel"])
    canvas.addEventListener(end, (event) => {
      fingers.delete(event.pointerId);
      if (!fingers.size) canvas.classList.remove("turning");
    });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    // Inside another page, scrolling belongs to that page until the picture is clicked.
    if (window.self !== window.top && document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    zoom(Math.exp(0.0012 * Math.max(-120, Math.min(120, event.deltaY))));
  }, { passive: false });

  return {
    reset, rotate, zoom,
    // What the painters need; `offset` is where a mechanism that is followed has gone.
    look: (offset) => {
      const target = add(camera.target, offset), eye = add(target, times(camera.distance, looks()));
      const near = camera.distance / 50, far = 60 * Math.max(camera.distance, home.distance);
      const up = Math.abs(camera.elevation) > 1.54 ? [-Math.cos(camera.azimuth), -Math.sin(camera.azimuth), 0] : [0, 0, 1];
      const view = lookAt(eye, target, up);
      const aspect = canvas.clientWidth / Math.max(1, canvas.clientHeight);
      // A narrow window shows as much from side to side as a wide one from top to bottom.
      const angle = aspect < 1 ? 2 * Math.atan(Math.tan(ANGLE / 2) / aspect) : ANGLE;
      const grain = 2 * Math.tan(angle / 2) / Math.max(1, canvas.clientHeight); // of a pixel, m at 1 m
      return { eye, target, near, view, grain, pixel: grain * camera.distance, toScreen: multiply(perspective(angle, aspect, near, far), view) };
    },
  };
};

