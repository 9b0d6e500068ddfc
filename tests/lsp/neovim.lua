-- Asks `slop lsp` everything that it answers, with Neovim's own client: see check.sh. Needs Neovim 0.7 or newer.
local slop, root = vim.env.SLOP, vim.env.PROJECT
local failures = 0

local function check(name, is_right, got)
    if is_right then
        print("neovim: " .. name)
    else
        failures = failures + 1
        print("neovim: WRONG " .. name .. ": " .. vim.inspect(got))
    end
end

vim.cmd("edit " .. root .. "/src/station.py")
vim.bo.filetype = "python"
local buffer = vim.api.nvim_get_current_buf()
local uri = vim.uri_from_bufnr(buffer)
local id = vim.lsp.start_client({ name = "slop", cmd = { slop, "lsp" }, root_dir = root })
vim.lsp.buf_attach_client(buffer, id)
local client = vim.lsp.get_client_by_id(id)
check("initialized", vim.wait(20000, function() return client.initialized end), client)

local function ask(method, params)
    local answers = vim.lsp.buf_request_sync(buffer, method, params, 20000) or {}
    local answer = answers[id] or {}
    return answer.result, answer.err
end
local document = { uri = uri }
local function at(line, character)
    return { textDocument = document, position = { line = line, character = character } }
end

local symbols = ask("textDocument/documentSymbol", { textDocument = document })
check("documentSymbol", symbols and symbols[1].name == "Station" and symbols[1].children[1].name == "measure", symbols)
local found = ask("workspace/symbol", { query = "measure" })
check("workspace/symbol", found and #found >= 1 and found[1].name:find("measure"), found)
local folds = ask("textDocument/foldingRange", { textDocument = document })
check("foldingRange", folds and #folds >= 2, folds)
local hover = ask("textDocument/hover", at(7, 22))
check("hover", hover and vim.inspect(hover):find("def measure"), hover)
local places = ask("textDocument/definition", at(7, 22))
places = places and places[1] and places or { places }
check("definition", places[1] and (places[1].uri or places[1].targetUri) == uri, places)
local uses = ask("textDocument/references", vim.tbl_extend("force", at(1, 8), { context = { includeDeclaration = true } }))
check("references", uses and #uses == 3, uses)

-- What is in the buffer counts, not what is on the disk. Neovim sends the change; UTF-16 makes the letter one unit.
vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { "# é𝄞", "def added():", "    return 1", "" })
symbols = ask("textDocument/documentSymbol", { textDocument = document })
check("an edit that is not saved", symbols and symbols[1].name == "added" and symbols[1].range.start.line == 1, symbols)
vim.cmd("silent undo")
symbols = ask("textDocument/documentSymbol", { textDocument = document })
check("its undo", symbols and symbols[1].name == "Station" and symbols[1].range.start.line == 0, symbols)

vim.lsp.stop_client(id)
check("shutdown and exit", vim.wait(20000, function() return client.is_stopped() end), client)
vim.cmd(failures == 0 and "qall!" or "cquit!")
