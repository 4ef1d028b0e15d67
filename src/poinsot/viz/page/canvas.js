// Solids with soft light, and their shadows, by WebGL 2.

const SOLID = {
  vertex: `#version 300 es
    layout(location = 0) in vec3 vertex;
    layout(location = 1) in vec3 normal;
    layout(location = 2) in vec3 colour;
    uniform mat4 toScreen;
    uniform vec3 position, scale, sun;
    uniform vec4 rotation;
    uniform float floorHeight, shadow;
    out vec3 world, outward, tint;
    vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.yzw, cross(q.yzw, v) + q.x * v); }
    void main() {
      tint = colour;
      world = position + turn(rotation, scale * vertex);
      outward = turn(rotation, normal / max(scale, vec3(1e-12)));
      if (shadow > 0.0) world -= sun * ((world.z - floorHeight) / sun.z);
      gl_Position = toScreen * vec4(world, 1.0);
    }`,
  fragment: `#version 300 es
    precision highp float;
    in vec3 world, outward, tint;
    uniform vec3 eye, sun;
    uniform float opacity, shadow;
    out vec4 shade;
    void main() {
      if (shadow > 0.0) { shade = vec4(0.0, 0.0, 0.0, shadow); return; }
      vec3 view = normalize(eye - world), n = normalize(outward);
      if (dot(n, view) < 0.0) n = -n;
      float sky = 0.5 + 0.5 * n.z;
      float key = max(0.0, dot(n, sun)), front = max(0.0, dot(n, view));
      float shine = pow(max(0.0, dot(n, normalize(sun + view))), 42.0);
      vec3 light = mix(vec3(0.30, 0.29, 0.31), vec3(0.46, 0.49, 0.54), sky) + 0.52 * key + 0.20 * front;
      vec3 linear = pow(tint, vec3(2.2)) * light + 0.13 * shine;
      float rim = pow(1.0 - front, 3.0);
      shade = vec4(pow(linear + 0.06 * rim, vec3(1.0 / 2.2)), min(1.0, opacity * (1.0 + 0.8 * rim)));
    }`,
};

const compile = (gl, { vertex, fragment }, names) => {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
    throw new Error(gl.getProgramInfoLog(program));
  const at = {};
  for (const name of names) at[name] = gl.getUniformLocation(program, name);
  return { program, at };
};

const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255);

const solidPainter = (gl, meshes) => {
  const names = ["toScreen", "position", "scale", "rotation", "sun", "floorHeight", "shadow", "eye", "opacity"];
  const { program, at } = compile(gl, SOLID, names);
  const stored = {};
  for (const [name, mesh] of Object.entries(meshes)) {
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    const fill = (target, values) => {
      gl.bindBuffer(target, gl.createBuffer());
      gl.bufferData(target, values, gl.STATIC_DRAW);
    };
    const triangles = unpack(mesh.triangles, Uint16Array);
    fill(gl.ARRAY_BUFFER, unpack(mesh.vertices, Float32Array));
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    fill(gl.ARRAY_BUFFER, unpack(mesh.normals, Int8Array));
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 3, gl.BYTE, true, 0, 0);
    fill(gl.ELEMENT_ARRAY_BUFFER, triangles);
    gl.bindVertexArray(null);
    stored[name] = { array, count: triangles.length };
  }
  return {
    begin: (camera, light) => {
      gl.useProgram(program);
      gl.uniformMatrix4fv(at.toScreen, false, camera.toScreen);
      gl.uniform3fv(at.eye, camera.eye);
      gl.uniform3fv(at.sun, light.sun);
      gl.uniform1f(at.floorHeight, light.floorHeight);
      gl.uniform1f(at.shadow, light.shadow);
    },
    // Keep a surface whose points move, and have colours of their own.
    store: (name, triangles) => {
      const array = gl.createVertexArray(), buffers = [0, 1, 2].map(() => gl.createBuffer());
      gl.bindVertexArray(array);
      buffers.forEach((buffer, k) => {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.enableVertexAttribArray(k);
        gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 0, 0);
      });
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, triangles, gl.STATIC_DRAW);
      gl.bindVertexArray(null);
      stored[name] = { array, count: triangles.length };
      return ({ vertices, normals, colours }) => [vertices, normals, colours].forEach((values, k) => {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffers[k]);
        gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
      });
    },
    paint: ({ mesh, p, q, scale, colour, opacity }) => {
      gl.uniform3fv(at.position, p);
      gl.uniform4fv(at.rotation, q);
      gl.uniform3fv(at.scale, scale);
      gl.uniform1f(at.opacity, opacity);
      gl.bindVertexArray(stored[mesh].array);
      gl.vertexAttrib3fv(2, colour); // all points of a mesh that has no colours
      gl.drawElements(gl.TRIANGLES, stored[mesh].count, gl.UNSIGNED_SHORT, 0);
    },
  };
};

